use super::*;

fn id(name: &str) -> EntryId {
    EntryId::new("test", name)
}

fn owner(tenant: &str, user: &str) -> Owner {
    Owner {
        tenant: tenant.into(),
        user: user.into(),
    }
}

fn blocking(name: &str) -> Preferences {
    Preferences {
        blocked: vec![id(name)],
        ..Preferences::default()
    }
}

#[tokio::test]
async fn a_user_adds_to_the_tenant_and_others_see_nothing() {
    let book = PreferenceBook::default();
    book.set(owner("acme", ""), blocking("a"))
        .await
        .expect("set");
    let own = Preferences {
        pinned: vec![id("a"), id("b")],
        ..Preferences::default()
    };
    book.set(owner("acme", "eve"), own).await.expect("set");
    let eve = book.effective(&owner("acme", "eve"));
    assert!(eve.blocks(&id("a")) && eve.pins(&id("b")));
    let bob = book.effective(&owner("acme", "bob"));
    assert!(bob.blocks(&id("a")) && !bob.pins(&id("b")));
    assert!(book.effective(&owner("other", "eve")).is_empty());
    assert!(book.effective(&owner("", "")).is_empty());
    book.set(owner("acme", ""), Preferences::default())
        .await
        .expect("forgets");
    assert!(!book.effective(&owner("acme", "bob")).blocks(&id("a")));
}

#[tokio::test]
async fn they_outlive_the_process_where_there_is_a_store() {
    let dir = tempfile::tempdir().expect("temporary folder");
    {
        let store = Store::open(dir.path()).expect("opens");
        let book = PreferenceBook::open(Some(store.clone()))
            .await
            .expect("opens");
        book.set(owner("acme", "eve"), blocking("a"))
            .await
            .expect("set");
        book.set(owner("acme", "bob"), blocking("b"))
            .await
            .expect("set");
        book.set(owner("acme", "bob"), Preferences::default())
            .await
            .expect("forgets");
        store.close().await;
    }
    let store = Store::open(dir.path()).expect("opens again");
    let book = PreferenceBook::open(Some(store)).await.expect("opens");
    assert_eq!(*book.get(&owner("acme", "eve")), blocking("a"));
    assert!(book.get(&owner("acme", "bob")).is_empty());
}

#[tokio::test]
async fn limits_are_named() {
    let book = PreferenceBook::default();
    let preferences = Preferences {
        pinned: vec![id("a"), id("")],
        blocked: vec![id("a")],
        preferred: vec![id("x"); MAX_ENTRIES + 1],
    };
    let long = "x".repeat(MAX_OWNER_CHARS + 1);
    let Err(PreferenceError::Invalid(violations)) =
        book.set(owner(&long, "a\n"), preferences).await
    else {
        panic!("accepted");
    };
    let fields: Vec<&str> = violations
        .as_slice()
        .iter()
        .map(|v| v.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "tenant",
            "user",
            "preferences.pinned[0].name",
            "preferences.pinned[1].name",
            "preferences.preferred"
        ]
    );
}
