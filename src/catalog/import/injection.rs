//! Phrases in a skill's text that try to override a model's instructions.
//!
//! A skill is put before a model, so a sentence such as "ignore previous instructions" in it
//! is worth a human eye. This is a lint, not a defence: it finds the plain phrases, in English,
//! German and Chinese, across line breaks and through full-width or zero-width characters. A
//! skill about prompt injection is found too, which is why a hit is a warning.

use unicode_normalization::UnicodeNormalization;

/// Hits reported of one text; more say nothing new.
const MAX_HITS: usize = 20;
/// Words a phrase may hold between its verb and its noun.
const MAX_GAP: usize = 6;

/// A phrase, and where it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Line in the text, from 1.
    pub line: u32,
    /// The words, as compared.
    pub phrase: String,
}

/// What makes a phrase in one language: a verb, and within [`MAX_GAP`] words one of `whose`
/// directly or nearly before one of `nouns`.
struct Language {
    verbs: &'static [&'static str],
    whose: &'static [&'static str],
    nouns: &'static [&'static str],
    /// Nouns that need no `whose`.
    sufficient: &'static [&'static str],
}

const ENGLISH: Language = Language {
    verbs: &[
        "ignore",
        "ignoring",
        "disregard",
        "disregarding",
        "forget",
        "override",
        "overrides",
        "bypass",
        "overlook",
    ],
    whose: &[
        "previous",
        "prior",
        "above",
        "earlier",
        "preceding",
        "foregoing",
        "system",
        "developer",
        "initial",
        "safety",
    ],
    nouns: &[
        "instruction",
        "instructions",
        "prompt",
        "prompts",
        "rules",
        "guidelines",
        "directives",
        "directions",
        "messages",
        "message",
        "commands",
        "context",
    ],
    sufficient: &[],
};

const GERMAN: Language = Language {
    verbs: &[
        "ignoriere",
        "ignorier",
        "ignoriert",
        "ignorieren",
        "missachte",
        "missachten",
        "vergiss",
        "vergesse",
        "vergessen",
        "übergehe",
        "übergehen",
        "umgehe",
        "umgehen",
        "verwirf",
    ],
    whose: &[
        "system",
        "vorherigen",
        "vorherige",
        "bisherigen",
        "bisherige",
        "obigen",
        "obige",
        "früheren",
        "frühere",
        "vorangegangenen",
        "vorangehenden",
        "vorigen",
        "vorige",
    ],
    nouns: &[
        "anweisungen",
        "anweisung",
        "instruktionen",
        "instruktion",
        "befehle",
        "regeln",
        "vorgaben",
        "anleitungen",
        "nachrichten",
        "prompts",
        "prompt",
    ],
    sufficient: &[
        "systemprompt",
        "systemprompts",
        "systemanweisung",
        "systemanweisungen",
        "systemnachricht",
        "systemvorgaben",
    ],
};

const CHINESE_VERBS: &[&str] = &[
    "忽略",
    "无视",
    "忽视",
    "忘记",
    "忘掉",
    "不理会",
    "不要理会",
    "不遵守",
    "不要遵守",
    "绕过",
    "無視",
    "忽視",
    "忘記",
    "繞過",
];
const CHINESE_WHOSE: &[&str] = &[
    "之前",
    "以前",
    "先前",
    "此前",
    "上面",
    "以上",
    "上述",
    "前面",
    "系统",
    "开发者",
    "所有",
    "系統",
    "開發者",
];
const CHINESE_NOUNS: &[&str] = &[
    "指令", "指示", "提示", "说明", "规则", "命令", "要求", "設定", "說明", "規則",
];
/// Characters that a Chinese phrase may hold between its parts.
const CHINESE_GAP: usize = 6;

/// Finds phrases in a text.
pub(super) fn scan(text: &str) -> Vec<Hit> {
    let mut words: Vec<(u32, String)> = Vec::new();
    let mut hits = Vec::new();
    // Chinese is not written in words: there the characters of one line are compared.
    for (at, line) in text.lines().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let line: String = line.nfkc().filter(|c| !is_invisible(*c)).collect();
        let line = line.to_lowercase();
        hits.extend(chinese(&line).map(|phrase| Hit {
            line: number,
            phrase,
        }));
        let split = line
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        words.extend(split.map(|word| (number, word.to_owned())));
    }
    for at in 0..words.len() {
        let language = [&ENGLISH, &GERMAN]
            .into_iter()
            .find(|language| language.verbs.contains(&words[at].1.as_str()));
        if let Some(len) = language.and_then(|language| phrase(language, &words[at + 1..])) {
            let phrase: Vec<_> = words[at..=at + len]
                .iter()
                .map(|(_, w)| w.as_str())
                .collect();
            hits.push(Hit {
                line: words[at].0,
                phrase: phrase.join(" "),
            });
        }
    }
    hits.sort_by_key(|hit| hit.line);
    hits.truncate(MAX_HITS);
    hits
}

/// Words after the verb that complete a phrase.
fn phrase(language: &Language, words: &[(u32, String)]) -> Option<usize> {
    let words = &words[..words.len().min(MAX_GAP)];
    let at = |list: &[&str], from: usize| {
        words[from..]
            .iter()
            .position(|(_, word)| list.contains(&word.as_str()))
            .map(|n| from + n)
    };
    if let Some(noun) = at(language.sufficient, 0) {
        return Some(noun + 1);
    }
    let whose = at(language.whose, 0)?;
    // "ignore the above instructions", and "ignore the instructions above".
    let nearby = &words[whose.saturating_sub(2)..words.len().min(whose + 4)];
    let noun = nearby
        .iter()
        .rposition(|(_, word)| language.nouns.contains(&word.as_str()))?;
    Some(whose.max(whose.saturating_sub(2) + noun) + 1)
}

fn chinese(line: &str) -> Option<String> {
    let (start, rest) = CHINESE_VERBS.iter().find_map(|verb| {
        let at = line.find(verb)?;
        Some((at, &line[at + verb.len()..]))
    })?;
    let rest = after_any(rest, CHINESE_WHOSE)?;
    let rest = after_any(rest, CHINESE_NOUNS)?;
    Some(line[start..line.len() - rest.len()].to_owned())
}

/// What follows the first of `parts` that begins within [`CHINESE_GAP`] characters.
fn after_any<'a>(text: &'a str, parts: &[&str]) -> Option<&'a str> {
    text.char_indices()
        .take(CHINESE_GAP + 1)
        .find_map(|(at, _)| parts.iter().find_map(|part| text[at..].strip_prefix(part)))
}

/// Characters that take no room and can split a word before a scanner's eyes.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}
