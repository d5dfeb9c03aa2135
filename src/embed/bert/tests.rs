use super::*;

const HIDDEN: usize = 8;
const INNER: usize = 16;
const VOCAB: usize = 11;
const POSITIONS: usize = 32;

fn config() -> Vec<u8> {
    serde_json::json!({
        "vocab_size": VOCAB, "hidden_size": HIDDEN, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": INNER, "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1, "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
        "pad_token_id": 0, "model_type": "bert"
    })
    .to_string()
    .into_bytes()
}

// Small numbers without a pattern that any layer could cancel.
fn tensor(shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product();
    // A multiplicative hash (Knuth's constant), folded into -0.75..0.75.
    let value = |n: usize| {
        let bits = ((n + 1) * (seed + 7)).wrapping_mul(2_654_435_761) >> 9;
        ((bits % 97) as f32 - 48.0) / 64.0
    };
    let values: Vec<f32> = (0..count).map(value).collect();
    Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
}

fn weights() -> HashMap<String, Tensor> {
    let layer = "encoder.layer.0";
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        (
            "embeddings.word_embeddings.weight".into(),
            vec![VOCAB, HIDDEN],
        ),
        (
            "embeddings.position_embeddings.weight".into(),
            vec![POSITIONS, HIDDEN],
        ),
        (
            "embeddings.token_type_embeddings.weight".into(),
            vec![2, HIDDEN],
        ),
    ];
    for norm in [
        "embeddings".into(),
        format!("{layer}.attention.output"),
        format!("{layer}.output"),
    ] {
        shapes.push((format!("{norm}.LayerNorm.weight"), vec![HIDDEN]));
        shapes.push((format!("{norm}.LayerNorm.bias"), vec![HIDDEN]));
    }
    for (name, out, inner) in [
        ("attention.self.query", HIDDEN, HIDDEN),
        ("attention.self.key", HIDDEN, HIDDEN),
        ("attention.self.value", HIDDEN, HIDDEN),
        ("attention.output.dense", HIDDEN, HIDDEN),
        ("intermediate.dense", INNER, HIDDEN),
        ("output.dense", HIDDEN, INNER),
    ] {
        shapes.push((format!("{layer}.{name}.weight"), vec![out, inner]));
        shapes.push((format!("{layer}.{name}.bias"), vec![out]));
    }
    let tensors = shapes
        .iter()
        .enumerate()
        .map(|(n, (name, s))| (name.clone(), tensor(s, n)));
    tensors.collect()
}

fn file(tensors: &HashMap<String, Tensor>) -> Vec<u8> {
    safetensors::serialize(tensors, None).unwrap()
}

fn load(tensors: &HashMap<String, Tensor>) -> Bert {
    Bert::load(&config(), file(tensors), &[], Device::Cpu).unwrap()
}

#[test]
fn a_vector_has_length_one_and_depends_on_the_order_of_tokens() {
    let bert = load(&weights());
    let vector = bert.forward(&[2, 5, 6, 3]).unwrap();
    assert_eq!(vector.len(), HIDDEN);
    let length: f32 = vector.iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-6, "{length}");
    assert_eq!(bert.forward(&[2, 5, 6, 3]).unwrap(), vector);
    assert_ne!(bert.forward(&[2, 6, 5, 3]).unwrap(), vector);
}

#[test]
fn a_half_precision_file_is_computed_in_f32() {
    let half: HashMap<String, Tensor> = weights()
        .into_iter()
        .map(|(name, tensor)| (name, tensor.to_dtype(DType::F16).unwrap()))
        .collect();
    let rounded = half
        .iter()
        .map(|(name, tensor)| (name.clone(), tensor.to_dtype(DType::F32).unwrap()))
        .collect();
    let ids = [2, 4, 7, 3];
    assert_eq!(
        load(&half).forward(&ids).unwrap(),
        load(&rounded).forward(&ids).unwrap()
    );
}

#[test]
fn numbers_that_are_not_finite_are_an_error() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut tensors = weights();
        let name = "encoder.layer.0.output.dense.bias";
        tensors.insert(
            name.into(),
            Tensor::full(bad, HIDDEN, &Device::Cpu).unwrap(),
        );
        let error = load(&tensors).forward(&[2, 3]).unwrap_err();
        assert!(error.contains("finite"), "{error}");
    }
    for bad in [0.0, f32::INFINITY, f32::NAN] {
        assert!(unit(vec![bad; 4]).is_err(), "{bad}");
    }
}

#[test]
fn ids_out_of_range_are_errors_not_panics() {
    let bert = load(&weights());
    for ids in [&[VOCAB as u32][..], &[u32::MAX], &[1; POSITIONS + 1], &[]] {
        assert!(
            bert.forward(ids).is_err(),
            "{} ids from {:?}",
            ids.len(),
            ids.first()
        );
    }
    assert!(bert.forward(&[1; POSITIONS]).is_ok());
}

#[test]
fn an_adapter_changes_the_vector() {
    let tensors = weights();
    let plain = load(&tensors).forward(&[2, 5, 3]).unwrap();
    let name = "encoder.layer.0.attention.self.value";
    let adapter = file(&HashMap::from([
        (format!("{name}.lora_A"), tensor(&[2, HIDDEN], 1)),
        (format!("{name}.lora_B"), tensor(&[HIDDEN, 2], 2)),
    ]));
    let scale = Scale {
        rank: 2,
        alpha: 4.0,
        strength: 0.5,
    };
    let tuned = Bert::load(&config(), file(&tensors), &[(&adapter, scale)], Device::Cpu).unwrap();
    assert_ne!(tuned.forward(&[2, 5, 3]).unwrap(), plain);
}

#[test]
fn broken_files_are_refused_by_name() {
    let error = |config: &[u8], weights: Vec<u8>| {
        Bert::load(config, weights, &[], Device::Cpu).err().unwrap()
    };
    assert!(error(b"{}", file(&weights())).starts_with("config.json: "));
    assert!(error(&config(), b"short".to_vec()).starts_with("model.safetensors: "));
    let mut tensors = weights();
    tensors.remove("encoder.layer.0.output.dense.weight");
    let missing = error(&config(), file(&tensors));
    assert!(
        missing.contains("encoder.layer.0.output.dense.weight"),
        "{missing}"
    );
    let config = String::from_utf8(config())
        .unwrap()
        .replace("heads\":2", "heads\":0");
    assert!(error(config.as_bytes(), file(&weights())).contains("0 heads"));
}
