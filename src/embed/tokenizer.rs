//! From text to token ids, within the model's limit.
//!
//! A `tokenizer.json` may carry its own truncation and padding (all-MiniLM-L6-v2's says 128
//! and "pad to 128", while the model reads 256): both are replaced here. Ids are cut at
//! `max_tokens` and never padded. What a literal `[SEP]` or `</s>` in a text becomes is the
//! file's own rule, as in the reference implementation.
//!
//! A long text is tokenised in slices, because the tokenizer keeps dozens of bytes for each
//! byte of its input: memory stays bounded and time linear.

use tokenizers::Tokenizer;

/// Bytes tokenised at a time. The ids come from the first slice alone: 64 KiB hold far more
/// than 512 tokens of any real text.
const SLICE_BYTES: usize = 64 << 10;

/// A tokenizer with the limit of its model.
pub(super) struct TextTokenizer {
    inner: Tokenizer,
    // Special tokens before and after every text: [CLS] and [SEP], or <s> and </s>.
    lead: Vec<u32>,
    trail: Vec<u32>,
    // Tokens of the text that fit between them.
    room: usize,
}

/// One text as the model reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TokenIds {
    /// At most `max_tokens` ids, special tokens included.
    pub(super) ids: Vec<u32>,
    /// Tokens of the whole text, special tokens included.
    pub(super) total: usize,
}

impl TextTokenizer {
    /// Reads a `tokenizer.json`; `max_tokens` counts special tokens.
    ///
    /// # Errors
    /// Says what is wrong with the file or the limit.
    pub(super) fn from_json(json: &[u8], max_tokens: usize) -> Result<Self, String> {
        let wrong = |error: tokenizers::Error| format!("tokenizer.json: {error}");
        let mut inner = Tokenizer::from_bytes(json).map_err(wrong)?;
        inner.with_padding(None);
        // The crate's own truncation stops reading at the limit and forgets how much was left,
        // so the cut is made here.
        inner.with_truncation(None).map_err(wrong)?;
        let probe = inner.encode_fast("a", true).map_err(wrong)?;
        let (ids, mask) = (probe.get_ids(), probe.get_special_tokens_mask());
        let content = |mask: &u32| *mask == 0;
        let (Some(first), Some(last)) = (
            mask.iter().position(content),
            mask.iter().rposition(content),
        ) else {
            return Err("tokenizer.json: it has no token for the letter a".into());
        };
        let (lead, trail) = (ids[..first].to_vec(), ids[last + 1..].to_vec());
        let specials = lead.len() + trail.len();
        match max_tokens.checked_sub(specials) {
            None | Some(0) => Err(format!(
                "max_tokens is {max_tokens}, but {specials} are special tokens"
            )),
            Some(room) => Ok(Self {
                inner,
                lead,
                trail,
                room,
            }),
        }
    }

    /// The largest id it can give, plus one.
    pub(super) fn vocab_size(&self) -> usize {
        let largest = self.inner.get_vocab(true).into_values().max();
        largest.map_or(0, |id| id as usize + 1)
    }

    /// The ids of `prefix` followed by `text`.
    ///
    /// # Errors
    /// What the tokenizer says; none is known for text.
    pub(super) fn encode(&self, prefix: &str, text: &str) -> Result<TokenIds, String> {
        let (head, mut rest) = split_slice(text);
        let content = self.content(&format!("{prefix}{head}"))?;
        let mut total = self.lead.len() + content.len() + self.trail.len();
        while !rest.is_empty() {
            let (slice, after) = split_slice(rest);
            total += self.content(slice)?.len();
            rest = after;
        }
        let kept = &content[..content.len().min(self.room)];
        Ok(TokenIds {
            ids: [&self.lead, kept, &self.trail].concat(),
            total,
        })
    }

    /// Tokens of `text` alone. A slice that cannot be tokenised counts as its bytes, so that
    /// nothing becomes free of cost.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut total = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let (slice, after) = split_slice(rest);
            total += self.content(slice).map_or(slice.len(), |ids| ids.len());
            rest = after;
        }
        total
    }

    // The ids of a text without special tokens, however many.
    fn content(&self, text: &str) -> Result<Vec<u32>, String> {
        // "fast" leaves out the offsets, which nobody asks for.
        let encoding = self
            .inner
            .encode_fast(text, false)
            .map_err(|error| format!("the text cannot be tokenised: {error}"))?;
        Ok(encoding.get_ids().to_vec())
    }
}

// At most SLICE_BYTES of `text`, cut before whitespace if the last quarter has any, and what
// follows without that whitespace: both tokenizers here split words at it anyway.
fn split_slice(text: &str) -> (&str, &str) {
    if text.len() <= SLICE_BYTES {
        return (text, "");
    }
    let end = text.floor_char_boundary(SLICE_BYTES);
    let from = text.floor_char_boundary(SLICE_BYTES * 3 / 4);
    let cut = text[from..end]
        .rfind(char::is_whitespace)
        .map_or(end, |at| from + at);
    (&text[..cut], text[cut..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    // A word-level tokenizer whose file asks for padding to 8 and truncation to 4.
    fn json() -> Vec<u8> {
        serde_json::json!({
            "version": "1.0",
            "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
            "padding": {
                "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null,
                "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"
            },
            "added_tokens": [
                {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false,
                 "rstrip": false, "normalized": false, "special": true},
                {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false,
                 "rstrip": false, "normalized": false, "special": true}
            ],
            "normalizer": null,
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "decoder": null,
            "model": {
                "type": "WordLevel", "unk_token": "[UNK]",
                "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "query": 4, ":": 5,
                          "list": 6, "files": 7}
            }
        })
        .to_string()
        .into_bytes()
    }

    #[test]
    fn the_files_own_padding_and_truncation_are_replaced() {
        let tokenizer = TextTokenizer::from_json(&json(), 6).unwrap();
        let short = tokenizer.encode("", "list files").unwrap();
        assert_eq!(
            short,
            TokenIds {
                ids: vec![2, 6, 7, 3],
                total: 4
            }
        );
        let long = tokenizer.encode("", &"list ".repeat(9)).unwrap();
        assert_eq!(
            long,
            TokenIds {
                ids: vec![2, 6, 6, 6, 6, 3],
                total: 11
            }
        );
    }

    #[test]
    fn the_prefix_counts() {
        let tokenizer = TextTokenizer::from_json(&json(), 9).unwrap();
        let ids = tokenizer.encode("query: ", "list files").unwrap();
        assert_eq!(
            ids,
            TokenIds {
                ids: vec![2, 4, 5, 6, 7, 3],
                total: 6
            }
        );
        assert_eq!(tokenizer.count("list files"), 2);
        assert_eq!(tokenizer.count(""), 0);
    }

    #[test]
    fn a_control_token_in_the_text_counts_as_text() {
        let tokenizer = TextTokenizer::from_json(&json(), 9).unwrap();
        let ids = tokenizer.encode("", "list [SEP] files").unwrap();
        assert_eq!(
            ids,
            TokenIds {
                ids: vec![2, 6, 3, 7, 3],
                total: 5
            }
        );
        assert_eq!(tokenizer.count("list [SEP] files"), 3);
    }

    #[test]
    fn slices_count_as_the_whole_would() {
        let tokenizer = TextTokenizer::from_json(&json(), 512).unwrap();
        let words = 5 * SLICE_BYTES / 11;
        let text = "list files ".repeat(words);
        let ids = tokenizer.encode("query: ", &text).unwrap();
        assert_eq!(ids.total, 2 * words + 2 + 2);
        assert_eq!(ids.ids.len(), 512);
        assert_eq!(tokenizer.count(&text), 2 * words);
    }

    #[test]
    fn slices_end_at_characters() {
        let text = "é".repeat(SLICE_BYTES + 1);
        let mut rest = text.as_str();
        let mut slices = Vec::new();
        while !rest.is_empty() {
            let (slice, after) = split_slice(rest);
            assert!(!slice.is_empty() && slice.len() <= SLICE_BYTES);
            slices.push(slice);
            rest = after;
        }
        assert_eq!(slices.concat(), text);
        let spaces = " ".repeat(SLICE_BYTES * 2);
        assert_eq!(split_slice(&spaces).1, "");
    }

    #[test]
    fn a_limit_without_room_for_text_is_refused() {
        let error = TextTokenizer::from_json(&json(), 2).err().unwrap();
        assert!(error.contains("max_tokens is 2"), "{error}");
        assert!(TextTokenizer::from_json(b"{}", 9).is_err());
    }
}
