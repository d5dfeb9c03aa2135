use std::sync::Arc;

use super::*;
use crate::catalog::Kind;

fn entry(name: &str, responsibility: &str) -> Arc<Entry> {
    let mut entry = Entry::new(Kind::Command, "test", name);
    entry.responsibility = responsibility.into();
    Arc::new(entry)
}

fn vectors(numbers: [f32; 2]) -> Arc<EntryVectors> {
    let row = Row {
        role: RowRole::Text,
        vector: numbers.into(),
    };
    Arc::new(EntryVectors {
        rows: vec![row],
        ..EntryVectors::default()
    })
}

fn names(snapshot: &Snapshot, token: &str) -> Vec<String> {
    let name = |posting: &Posting| {
        snapshot
            .entry(posting.slot)
            .expect("posting of a live entry")
            .entry
            .id
            .name
            .clone()
    };
    let mut names: Vec<String> = snapshot.postings(token).iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn a_change_is_in_the_next_snapshot_and_not_in_the_one_before() {
    let index = Index::default();
    let before = index.snapshot();
    index.apply(vec![Change::Put(entry("git-branch", "Create branches"))]);
    let after = index.snapshot();
    assert_eq!((before.len(), after.len()), (0, 1));
    assert_ne!(before.revision(), after.revision());
    assert_eq!(names(&after, "branch"), ["git-branch"]);
    assert!(before.postings("branch").is_empty());
}

#[test]
fn replacing_and_deleting_leave_no_posting_behind() {
    let index = Index::default();
    index.apply(vec![
        Change::Put(entry("a", "old words")),
        Change::Put(entry("b", "words")),
    ]);
    let applied = index.apply(vec![Change::Put(entry("a", "new text"))]);
    assert_eq!(applied.updated.len(), 1);
    let snapshot = index.snapshot();
    assert_eq!(names(&snapshot, "words"), ["b"]);
    assert_eq!(names(&snapshot, "new"), ["a"]);
    assert!(snapshot.postings("old").is_empty());
    index.apply(vec![Change::Remove(EntryId::new("test", "a"))]);
    let snapshot = index.snapshot();
    assert!(snapshot.postings("new").is_empty());
    assert_eq!((snapshot.len(), snapshot.ordered().len()), (1, 1));
}

#[test]
fn put_and_removed_in_one_batch_is_gone() {
    let index = Index::default();
    let applied = index.apply(vec![
        Change::Put(entry("a", "word")),
        Change::Remove(EntryId::new("test", "a")),
        Change::Put(entry("b", "word")),
    ]);
    assert_eq!((applied.created.len(), applied.deleted.len()), (2, 1));
    assert_eq!(names(&index.snapshot(), "word"), ["b"]);
}

#[test]
fn the_revision_depends_on_the_content_alone() {
    let (one, two) = (Index::default(), Index::default());
    one.apply(vec![
        Change::Put(entry("a", "x")),
        Change::Put(entry("b", "y")),
    ]);
    two.apply(vec![
        Change::Put(entry("c", "z")),
        Change::Put(entry("b", "y")),
    ]);
    two.apply(vec![
        Change::Put(entry("a", "x")),
        Change::Remove(EntryId::new("test", "c")),
    ]);
    assert_eq!(one.snapshot().revision(), two.snapshot().revision());
    let unchanged = two.apply(vec![Change::Put(entry("a", "x"))]);
    assert_eq!((unchanged.unchanged, unchanged.updated.len()), (1, 0));
}

#[test]
fn vectors_go_to_the_text_they_were_made_from_only() {
    let index = Index::default();
    let old = index
        .apply(vec![Change::Put(entry("a", "old"))])
        .created
        .remove(0);
    index.apply(vec![Change::Put(entry("a", "new"))]);
    assert_eq!(index.attach(vec![(old, vectors([1.0, 0.0]))]), 0);
    assert_eq!(index.snapshot().pending_vectors(), 1);
    let new = index
        .snapshot()
        .entries()
        .next()
        .expect("one entry")
        .clone();
    assert_eq!(index.attach(vec![(new, vectors([0.0, 1.0]))]), 1);
    let snapshot = index.snapshot();
    assert_eq!(snapshot.pending_vectors(), 0);
    let mut seen = Vec::new();
    snapshot.matrix().scan(&[0.6, 0.8], |slot, role, cosine| {
        seen.push((slot, role, cosine))
    });
    assert_eq!(seen, [(0, RowRole::Text, 0.8)]);
    snapshot
        .matrix()
        .scan(&[1.0, 0.0, 0.0], |_, _, _| panic!("another dimension"));
}

#[test]
fn scans_see_every_vector_across_chunks() {
    let index = Index::default();
    let puts = (0..200)
        .map(|n| Change::Put(entry(&format!("e{n}"), "x")))
        .collect();
    let created = index.apply(puts).created;
    index.attach(
        created
            .into_iter()
            .map(|entry| (entry, vectors([1.0, 0.0])))
            .collect(),
    );
    index.apply(vec![Change::Remove(EntryId::new("test", "e70"))]);
    let mut slots = Vec::new();
    index
        .snapshot()
        .matrix()
        .scan(&[1.0, 0.0], |slot, _, _| slots.push(slot));
    assert_eq!(slots.len(), 199);
    assert!(!slots.contains(&70));
}

#[test]
fn exact_names_win_over_aliases() {
    let index = Index::default();
    let mut alias = Entry::new(Kind::Command, "test", "aaa");
    alias.aliases = vec!["Branch".into()];
    index.apply(vec![
        Change::Put(Arc::new(alias)),
        Change::Put(entry("branch", "")),
    ]);
    let snapshot = index.snapshot();
    let first = snapshot.commands_named("BRANCH")[0];
    assert_eq!(snapshot.entry(first).expect("slot").entry.id.name, "branch");
    assert_eq!(snapshot.commands_named("branch").len(), 2);
}

#[test]
fn dot_counts_the_tail() {
    let a: Vec<f32> = (0..11).map(|n| n as f32).collect();
    assert_eq!(dot(&a, &a), 385.0);
}
