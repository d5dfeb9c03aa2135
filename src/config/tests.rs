use std::fs;

use super::*;

fn load(toml: &str) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().expect("temporary folder");
    let file = dir.path().join("signalbox.toml");
    fs::write(&file, toml).expect("written");
    Config::load(Some(&file), Overrides::new())
}

#[test]
fn an_empty_file_means_the_defaults() {
    assert_eq!(load("").expect("loads"), Config::default());
    assert_eq!(Config::default().server.listen, "127.0.0.1:50051");
}

#[test]
fn flags_win_over_the_file() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let file = dir.path().join("signalbox.toml");
    fs::write(
        &file,
        "[server]\nlisten = \"127.0.0.1:1\"\ndrain_seconds = 3",
    )
    .expect("written");
    let overrides = toml::from_str("[server]\nlisten = \"127.0.0.1:2\"").expect("TOML");
    let config = Config::load(Some(&file), overrides).expect("loads");
    assert_eq!(config.server.listen, "127.0.0.1:2");
    assert_eq!(config.server.drain_seconds, 3);
}

#[test]
fn unknown_keys_are_named() {
    for (toml, key) in [("[server]\nlisen = \"x\"", "lisen"), ("[sever]", "sever")] {
        let error = load(toml).expect_err("refused").to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn every_value_out_of_its_limits_is_named() {
    let error = load(
        "[server]\nlisten = \"nowhere\"\n[route]\nfloor = 2.0\n[limits]\nmax_batch = 0\n\
         [log]\nlevel = \"=loud=\"",
    )
    .expect_err("refused")
    .to_string();
    for field in [
        "server.listen",
        "route.floor",
        "limits.max_batch",
        "log.level",
    ] {
        assert!(error.contains(field), "{field} is not in {error}");
    }
}

#[test]
fn own_adapters_need_a_model_and_are_few() {
    let config = load("[model]\nadapters = [\"own.safetensors\"]").expect("loads");
    assert_eq!(config.model.embed_config().adapters, config.model.adapters);
    let error = load("[model]\nid = \"none\"\nadapters = [\"a\"]").expect_err("refused");
    assert!(error.to_string().contains("model.adapters"), "{error}");
    let many = format!("[model]\nadapters = [{}]", "\"a\", ".repeat(9));
    let error = load(&many).expect_err("refused").to_string();
    assert!(error.contains("9 files exceed the limit of 8"), "{error}");
}

#[test]
fn a_missing_file_is_an_error() {
    let error = Config::load(Some(Path::new("/nowhere.toml")), Overrides::new());
    assert!(matches!(error, Err(ConfigError::Missing(_))));
}

#[test]
fn secrets_are_never_shown() {
    let config = load("[hub]\ntoken = \"hunter2\"").expect("loads");
    assert_eq!(
        config.hub.token.as_ref().map(Secret::reveal),
        Some("hunter2")
    );
    let shown = format!("{config:?} {}", config.dump());
    assert!(
        !shown.contains("hunter2") && shown.contains("[redacted]"),
        "{shown}"
    );
}

#[test]
fn the_dump_can_be_read_back() {
    assert_eq!(
        load(&Config::default().dump()).expect("loads"),
        Config::default()
    );
}

#[test]
fn the_admin_listener_is_optional_only_where_nobody_asked_for_it() {
    let door = |toml: &str| load(toml).expect("loads").admin.door();
    assert!(matches!(door(""), AdminDoor::IfFree(_)));
    assert_eq!(door("[admin]\nlisten = \"\""), AdminDoor::Closed);
    assert_eq!(
        door("[admin]\nlisten = \"0.0.0.0:9464\""),
        AdminDoor::At("0.0.0.0:9464".parse().expect("address"))
    );
}

#[test]
fn an_unusable_collector_is_refused() {
    for endpoint in ["127.0.0.1:4317", "https://collector:4317", "://", "http://"] {
        let error = load(&format!("[telemetry]\notlp_endpoint = {endpoint:?}"));
        let error = error.expect_err(endpoint).to_string();
        assert!(error.contains("telemetry.otlp_endpoint"), "{error}");
    }
    load("[telemetry]\notlp_endpoint = \"http://127.0.0.1:4317\"").expect("loads");
}
