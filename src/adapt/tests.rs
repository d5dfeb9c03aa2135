//! A whole training on a toy: an encoder with random weights, a catalogue of nonsense words.

use std::collections::HashMap;

use candle_core::{Device, Tensor};
use rand::Rng;

use super::batch::{Batch, generator, plan};
use super::*;
use crate::catalog::{Entry, Kind};
use crate::eval::{Query, read_queries};

const HIDDEN: usize = 32;
const INNER: usize = 64;
/// Entries of the toy; each has words of its own that only its prompts use.
const ENTRIES: usize = 12;
const WORDS: usize = 4;

fn toy() -> Halves {
    let mut words: Vec<String> = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", ":", "please", "now", "the",
    ]
    .map(str::to_owned)
    .to_vec();
    for entry in 0..ENTRIES {
        words.push(format!("name{}", letters(entry)));
        words.extend((0..WORDS).map(|word| said(entry, word)));
    }
    let vocab: HashMap<&String, usize> = words.iter().enumerate().map(|(n, w)| (w, n)).collect();
    let special = |id: usize, content: &str| {
        serde_json::json!({"id": id, "content": content, "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true})
    };
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(2, "[CLS]"), special(3, "[SEP]")],
        "normalizer": null, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocab}
    });
    let config = serde_json::json!({
        "vocab_size": words.len(), "hidden_size": HIDDEN, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": INNER, "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1, "max_position_embeddings": 32, "type_vocab_size": 2,
        "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0, "model_type": "bert"
    });
    Halves::from_bytes(
        config.to_string().as_bytes(),
        weights(words.len()),
        tokenizer.to_string().as_bytes(),
        24,
    )
    .unwrap()
}

fn weights(vocab: usize) -> Vec<u8> {
    let mut shapes = vec![
        (
            "embeddings.word_embeddings.weight".to_owned(),
            vec![vocab, HIDDEN],
        ),
        (
            "embeddings.position_embeddings.weight".to_owned(),
            vec![32, HIDDEN],
        ),
        (
            "embeddings.token_type_embeddings.weight".to_owned(),
            vec![2, HIDDEN],
        ),
        ("embeddings.LayerNorm.weight".to_owned(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![HIDDEN]),
    ];
    for layer in 0..2 {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        for (part, out, inner) in [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ] {
            shapes.push((name(&format!("{part}.weight")), vec![out, inner]));
            shapes.push((name(&format!("{part}.bias")), vec![out]));
        }
        for part in ["attention.output", "output"] {
            shapes.push((name(&format!("{part}.LayerNorm.weight")), vec![HIDDEN]));
            shapes.push((name(&format!("{part}.LayerNorm.bias")), vec![HIDDEN]));
        }
    }
    let mut rng = generator(5, 9);
    let tensors: HashMap<String, Tensor> = shapes
        .into_iter()
        .map(|(name, shape)| {
            let count: usize = shape.iter().product();
            let numbers: Vec<f32> = match name.as_str() {
                name if name.ends_with("LayerNorm.weight") => vec![1.0; count],
                name if name.ends_with("bias") => vec![0.0; count],
                _ => (0..count).map(|_| rng.random_range(-0.3..0.3)).collect(),
            };
            (
                name,
                Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap(),
            )
        })
        .collect();
    safetensors::serialize(&tensors, None).unwrap()
}

fn letters(entry: usize) -> char {
    char::from(b'a' + entry as u8)
}

fn said(entry: usize, word: usize) -> String {
    format!("say{}{}", letters(entry), letters(word))
}

fn entries() -> Vec<Entry> {
    let entry = |at| Entry::new(Kind::Tool, "toy", &format!("name{}", letters(at)));
    (0..ENTRIES).map(entry).collect()
}

// Prompts of two of an entry's words each, and some that nothing serves.
fn queries() -> Vec<Query> {
    let mut lines = String::new();
    for entry in 0..ENTRIES {
        for first in 0..WORDS {
            for second in 0..WORDS {
                let (first, second) = (said(entry, first), said(entry, second));
                let gold = format!("name{}", letters(entry));
                lines +=
                    &format!("{{\"query\": \"{first} the {second}\", \"gold\": [\"{gold}\"]}}\n");
            }
        }
    }
    for n in 0..20 {
        lines += &format!(
            "{{\"query\": \"please {} now\", \"gold\": []}}\n",
            "now ".repeat(n)
        );
    }
    read_queries(&lines).unwrap()
}

fn set() -> Set {
    Set::new("toy", 1.0, entries(), &queries(), Holdout { share: 0.25 }).unwrap()
}

fn settings() -> Settings {
    Settings {
        steps: 100,
        rank: 8,
        alpha: 16.0,
        strength: 1.0,
        learning_rate: 1e-2,
        ..Settings::default()
    }
}

fn run(settings: &Settings, threads: usize) -> Trained {
    train_halves(&toy(), threads, &[set()], settings, false, &mut |_| {}).unwrap()
}

#[test]
fn a_training_lifts_the_prompts_kept_back() {
    let report = run(&settings(), 2).report;
    let (before, after) = (&report.all.before, &report.all.after);
    assert!(before.prompts > 20 && report.key.rows > 100, "{report:?}");
    // Words mean nothing to random weights: about one in twelve.
    assert!(before.top1 < 0.4, "{report:?}");
    assert!(
        after.top1 > before.top1 + 0.2 && report.helped(),
        "{report:?}"
    );
    assert!(after.auroc > before.auroc, "{report:?}");
}

#[test]
fn equal_seeds_give_equal_files_and_others_do_not() {
    let settings = Settings {
        steps: 3,
        ..settings()
    };
    let file = run(&settings, 1).file;
    assert_eq!(run(&settings, 2).file, file);
    let other = Settings {
        seed: 2,
        ..settings
    };
    assert_ne!(run(&other, 1).file, file);
}

#[test]
fn what_is_kept_back_is_never_learnt_from() {
    let sets = [set()];
    let settings = Settings {
        steps: 40,
        ..settings()
    };
    let held: Vec<usize> = sets[0].held().collect();
    let drawn: Vec<Batch> = plan(&sets, &settings);
    let all = drawn
        .iter()
        .flat_map(|b| b.prompts.iter().chain(&b.outside));
    assert!(!held.is_empty());
    for (set, at) in all {
        assert!(*set == 0 && !held.contains(at), "{at}");
    }
    for batch in &drawn {
        assert_eq!((batch.prompts.len(), batch.chosen.len()), (32, 32));
        for ((_, at), chosen) in batch.prompts.iter().zip(&batch.chosen) {
            assert!(sets[0].prompts[*at].gold.contains(chosen));
        }
    }
}

#[test]
fn prompts_that_differ_in_case_and_digits_stay_on_one_side() {
    let lines: String = (0..200)
        .map(|n| format!("{{\"query\": \"word{n} Open ticket 4{n}!\", \"gold\": [\"namea\"]}}\n"))
        .collect();
    let holdout = Holdout { share: 0.5 };
    let read = |text: &str| {
        let queries = read_queries(text).unwrap();
        let set = Set::new("toy", 1.0, entries(), &queries, holdout).unwrap();
        set.held().collect::<Vec<_>>()
    };
    let held = read(&lines);
    assert!((60..140).contains(&held.len()), "{}", held.len());
    let other = lines.replace("Open", "OPEN").replace(" 4", " 97");
    assert_eq!(read(&other), held);
}

#[test]
fn unusable_data_and_settings_are_refused_with_a_reason() {
    let few: Vec<Query> = queries().into_iter().take(49).collect();
    let holdout = Holdout { share: 0.25 };
    let set = Set::new("toy", 1.0, entries(), &few, holdout).unwrap();
    let why = check(&[set], &settings()).unwrap_err().to_string();
    assert!(
        why.contains("49 prompts") && why.contains("at least 50"),
        "{why}"
    );

    let unknown = read_queries("{\"query\": \"x\", \"gold\": [\"nobody\"]}").unwrap();
    let why = Set::new("toy", 1.0, entries(), &unknown, holdout).unwrap_err();
    assert!(
        why.contains("line 1") && why.contains("\"nobody\""),
        "{why}"
    );

    let mut twice = entries();
    twice.push(Entry::new(Kind::Tool, "other", "namea"));
    let one = read_queries("{\"query\": \"x\", \"gold\": [\"namea\"]}").unwrap();
    let why = Set::new("toy", 1.0, twice.clone(), &one, holdout).unwrap_err();
    assert!(why.contains("several entries"), "{why}");
    let exact = read_queries("{\"query\": \"x\", \"gold\": [\"other/namea\"]}").unwrap();
    Set::new("toy", 1.0, twice, &exact, holdout).unwrap();

    let wrong = Settings {
        steps: 0,
        temperature: f64::NAN,
        ..settings()
    };
    let why = check(&[self::set()], &wrong).unwrap_err().to_string();
    assert!(
        why.contains("steps: 0") && why.contains("temperature: NaN"),
        "{why}"
    );
}
