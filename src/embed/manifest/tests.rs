use super::*;

fn changed(from: &str, to: &str) -> String {
    assert!(
        TEXT.contains(from),
        "the manifest has no {from:?} to change"
    );
    let text = TEXT.replacen(from, to, 1);
    Manifest::parse(&text).unwrap_err().to_string()
}

#[test]
fn the_manifest_of_this_binary_is_valid() {
    let manifest = manifest().unwrap();
    let minilm = manifest.find("all-minilm-l6-v2").unwrap();
    assert_eq!((minilm.hidden, minilm.max_tokens), (384, 256));
    let e5 = manifest.find("multilingual-e5-small").unwrap();
    assert_eq!((e5.query_prefix.as_str(), e5.max_tokens), ("query: ", 512));
    assert!(e5.languages.iter().any(|language| language == "de"));
    assert!(manifest.adapters_of(&minilm.id).is_empty());
    assert_eq!(manifest.adapters_of(&e5.id).len(), 1);
}

#[test]
fn every_adapter_is_part_of_the_binary() {
    for adapter in &manifest().unwrap().adapters {
        adapter.bytes().unwrap();
        let other = AdapterSpec {
            sha256: "0".repeat(64),
            ..adapter.clone()
        };
        let error = other.bytes().unwrap_err().to_string();
        assert!(error.contains(&adapter.sha256), "{error}");
        let absent = AdapterSpec {
            file: "adapters/none".into(),
            ..adapter.clone()
        };
        assert!(absent.bytes().is_err());
    }
}

#[test]
fn an_adapter_file_holds_the_modules_it_lists() {
    for adapter in &manifest().unwrap().adapters {
        let file = safetensors::SafeTensors::deserialize(adapter.bytes().unwrap()).unwrap();
        let mut found: Vec<String> = file.names().into_iter().map(str::to_owned).collect();
        let mut wanted = Vec::new();
        for layer in &adapter.layers {
            for module in &adapter.modules {
                for factor in ["lora_A", "lora_B"] {
                    wanted.push(format!("encoder.layer.{layer}.{module}.{factor}"));
                }
            }
        }
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }
}

#[test]
fn unknown_keys_are_refused() {
    assert!(changed("schema = 1", "schema = 1\nextra = 2").contains("extra"));
    assert!(changed("pad_id = 0", "pad_id = 0\nprefix = ''").contains("prefix"));
    assert!(changed("size = 612", "size = 612\nmode = 1").contains("mode"));
}

#[test]
fn wrong_values_are_refused_by_name() {
    assert!(changed("schema = 1", "schema = 2").contains("schema is 2"));
    assert!(changed("normalize = true", "normalize = false").contains("normalize"));
    assert!(changed("name = \"config.json\"", "name = \"../config\"").contains("../config"));
    assert!(changed("name = \"config.json\"", "name = \"conf.json\"").contains("config.json"));
    assert!(
        changed(
            "id = \"multilingual-e5-small\"",
            "id = \"all-minilm-l6-v2\""
        )
        .contains("twice")
    );
    assert!(changed("model = \"multilingual-e5-small\"", "model = \"e6\"").contains("e6"));
    let digest = &manifest().unwrap().models[0].variants[0].files[0].sha256;
    assert!(changed(digest, &digest.to_uppercase()).contains("lowercase"));
}

#[test]
fn an_unknown_model_lists_the_known_ones() {
    let error = manifest().unwrap().find("bert").unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown model \"bert\"; known are all-minilm-l6-v2, multilingual-e5-small"
    );
}

#[test]
fn the_digest_changes_with_all_that_a_vector_depends_on() {
    let manifest = manifest().unwrap();
    let e5 = manifest.find("multilingual-e5-small").unwrap();
    let adapters = manifest.adapters_of(&e5.id);
    let base = e5.digest(&e5.variants[0], &adapters);
    assert_eq!(base.len(), 64);
    assert_eq!(e5.digest(&e5.variants[0], &adapters), base);
    let half = AdapterSpec {
        strength: 0.25,
        ..adapters[0].clone()
    };
    let shorter = ModelSpec {
        max_tokens: 128,
        ..e5.clone()
    };
    let renamed = ModelSpec {
        query_prefix: "q: ".into(),
        ..e5.clone()
    };
    for other in [
        e5.digest(&e5.variants[1], &adapters),
        e5.digest(&e5.variants[0], &[]),
        e5.digest(&e5.variants[0], &[&half]),
        shorter.digest(&e5.variants[0], &adapters),
        renamed.digest(&e5.variants[0], &adapters),
    ] {
        assert_ne!(other, base);
    }
}
