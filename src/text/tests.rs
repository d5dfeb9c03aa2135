use super::script::{ScriptGroup, script_group};
use super::*;

fn tokens(text: &str) -> Vec<String> {
    distinct(tokenize(text))
}

#[test]
fn separators_and_case_changes_cut() {
    assert_eq!(tokens("Erstelle/git-branch"), ["erstelle", "git", "branch"]);
    assert_eq!(
        tokens("git_commands review,"),
        ["git", "commands", "review"]
    );
    assert_eq!(tokens("package.json"), ["package", "json"]);
    assert_eq!(
        tokens("camelCase HTTPServer"),
        ["camel", "case", "http", "server"]
    );
    assert_eq!(tokens("git  git\tgit"), ["git"]);
    assert_eq!(tokens("JSON"), ["json"]);
}

#[test]
fn compatibility_forms_are_equal() {
    assert_eq!(tokens("Ｇｉｔ　ﬁle"), tokens("Git file"));
    assert_eq!(tokens("Gro\u{308}ße"), ["größe"]);
}

#[test]
fn scripts_without_spaces_become_bigrams() {
    assert_eq!(tokens("查询财报"), ["查询", "询财", "财报"]);
    assert_eq!(tokens("查"), ["查"]);
    assert_eq!(tokens("用git提交"), ["用", "git", "提交"]);
    assert_eq!(tokens("サーバー"), ["サー", "ーバ", "バー"]);
    assert_eq!(tokens("ไฟล์").len(), 3);
    assert_eq!(tokens("커밋 하기"), ["커밋", "하기"]);
}

#[test]
fn nothing_is_no_token() {
    for text in ["", "   ", "\u{0}", "🙂", "\u{202e}..!"] {
        assert!(tokens(text).is_empty(), "{text:?}");
    }
}

#[test]
fn whole_tokens_only() {
    let prompt = tokens("Is the digital survey legitimate?");
    assert!(!prompt.contains(&"git".to_owned()) && !prompt.contains(&"uv".to_owned()));
}

#[test]
fn groups_by_the_most_letters() {
    assert_eq!(script_group("查询 README.md"), ScriptGroup::Latin);
    assert_eq!(script_group("帮我查询财报"), ScriptGroup::Cjk);
    assert_eq!(script_group("Größe"), ScriptGroup::Latin);
    assert_eq!(script_group("создай ветку"), ScriptGroup::Other);
    assert_eq!(script_group("42 !"), ScriptGroup::Latin);
}

#[test]
fn nearest_names_are_near() {
    let names = ["git-branch", "git-commit", "summary"];
    assert_eq!(nearest_names("git-brnch", names, 3)[0], "git-branch");
    assert!(nearest_names("zzz", names, 3).is_empty());
}
