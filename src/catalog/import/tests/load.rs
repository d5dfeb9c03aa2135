//! Files and folders.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

fn write(root: &Path, name: &str, text: &str) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn names(imported: &Imported) -> Vec<String> {
    imported
        .entries
        .iter()
        .map(|entry| entry.id.to_string())
        .collect()
}

const SKILL: &str = "---\nname: pdf\ndescription: d\n---\n";

#[test]
fn folders_are_walked_in_order_and_files_read_by_their_names() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "b/z.jsonl", "{\"name\":\"four\"}\n");
    write(root, "b/c.yml", "- name: three\n");
    write(
        root,
        "a.yaml",
        "source: s\nentries: [{name: one}, {name: mine, source: m}]\n",
    );
    write(root, "b/a.json", "[{\"name\":\"two\"}]");
    write(root, "skills/pdf/SKILL.md", SKILL);
    write(root, "README.md", "# nothing");
    write(root, "notes.txt", "- name: no");
    let imported = load_paths(&[root.to_path_buf()]).unwrap();
    assert_eq!(
        names(&imported),
        [
            "s/one",
            "m/mine",
            "a/two",
            "c/three",
            "z/four",
            "skills/pdf"
        ]
    );
    assert_eq!(imported.entries[5].kind, Kind::Skill);
    assert!(
        imported.diagnostics.is_empty(),
        "{:?}",
        imported.diagnostics
    );
    // The order of the paths is the caller's.
    let paths = [
        root.join("skills"),
        root.join("b/c.yml"),
        root.join("a.yaml"),
    ];
    let imported = load_paths(&paths).unwrap();
    assert_eq!(
        names(&imported),
        ["skills/pdf", "c/three", "s/one", "m/mine"]
    );
    assert_eq!(load_paths(&[]).unwrap(), Imported::default());
}

#[test]
fn files_of_a_skill_are_no_catalogues() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "pdf/SKILL.md", SKILL);
    write(root.path(), "pdf/config.yaml", "depth: 3\n");
    write(root.path(), "pdf/assets/deep/data.json", "{}");
    write(root.path(), "pdf-more.yaml", "- name: a\n");
    let imported = load_paths(&[root.path().to_path_buf()]).unwrap();
    assert_eq!(names(&imported), ["skills/pdf", "pdf-more/a"]);
}

#[test]
fn a_rejected_skill_leaves_the_others() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a/SKILL.md", "---\nname: a\n---\n");
    write(root.path(), "b/skill.md", SKILL);
    let bad = root.path().join("c/SKILL.md");
    write(root.path(), "c/SKILL.md", "");
    fs::write(&bad, b"---\nname: \xFF\n---\n").unwrap();
    write(root.path(), "pdf/SKILL.md", SKILL);
    let imported = load_paths(&[root.path().to_path_buf()]).unwrap();
    assert_eq!(names(&imported), ["skills/pdf"]);
    let mut found = codes(&imported);
    found.sort_unstable();
    assert_eq!(
        found,
        ["MISNAMED_SKILL", "MISSING_DESCRIPTION", "UNREADABLE_TEXT"]
    );
}

#[test]
fn a_name_twice_names_both_places() {
    let root = tempfile::tempdir().unwrap();
    let first = write(
        root.path(),
        "a.yaml",
        "source: s\nentries:\n  - name: x\n  - name: y\n",
    );
    let second = write(root.path(), "b.yaml", "source: s\nentries:\n  - name: y\n");
    let error = load_paths(&[root.path().to_path_buf()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}:3: y: name: stands twice in source \"s\", first at {}:4",
            second.display(),
            first.display()
        )
    );
    write(root.path(), "p/pdf/SKILL.md", SKILL);
    write(root.path(), "q/pdf/SKILL.md", SKILL);
    let error = load_paths(&[root.path().join("p"), root.path().join("q")]).unwrap_err();
    assert_eq!((error.line, error.item.as_deref()), (Some(1), Some("pdf")));
    assert!(error.message.contains("p/pdf/SKILL.md:1"), "{error}");
    // Two sources may own one name.
    let alone = write(root.path(), "c/y.yaml", "- name: y\n");
    assert_eq!(load_paths(&[first, alone]).unwrap().entries.len(), 3);
}

#[test]
fn paths_that_cannot_be_read_are_named() {
    let root = tempfile::tempdir().unwrap();
    let missing = root.path().join("missing.yaml");
    let error = load_paths(std::slice::from_ref(&missing)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("{}: cannot be read: ", missing.display()))
    );
    let text = write(root.path(), "notes.txt", "x");
    assert!(
        load_paths(&[text])
            .unwrap_err()
            .message
            .contains("has no known format")
    );
    let bad = write(root.path(), "bad.yaml", "- name: a\n  exampels: []\n");
    let error = load_paths(&[bad]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("bad.yaml:2: a: unknown key \"exampels\""),
        "{error}"
    );
}

#[test]
fn a_file_over_its_size_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = write(root.path(), "big.jsonl", "");
    fs::File::create(&path)
        .unwrap()
        .set_len(MAX_DOCUMENT_BYTES as u64 + 1)
        .unwrap();
    let error = load_paths(&[path]).unwrap_err();
    assert_eq!(error.message, "is larger than the limit of 16777216 bytes");
}

#[cfg(unix)]
#[test]
fn links_in_folders_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let secret = write(outside.path(), "x.yaml", "- name: secret\n");
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&secret, root.path().join("x.yaml")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("folder")).unwrap();
    assert!(
        load_paths(&[root.path().to_path_buf()])
            .unwrap()
            .entries
            .is_empty()
    );
}
