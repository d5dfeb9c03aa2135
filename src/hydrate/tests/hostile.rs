//! A thousand references that must not be reached.

use std::sync::Arc;

use super::server::WebServer;
use super::*;

/// Spellings of addresses that are not public.
fn hosts() -> Vec<String> {
    let mut hosts: Vec<String> = [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.1",
        "127.0.1",
        "0",
        "0.0.0.0",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "169.254.169.254.",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "metadata.google.internal",
        "127.0.0.1.nip.io",
        "①②⑦.⓪.⓪.①",
        "１２７.0.0.1",
        "127。0。0。1",
        "ⓛocalhost",
        "%31%32%37.0.0.1",
        "%6cocalhost",
        "user@127.0.0.1",
        "user:pw@127.0.0.1",
        "8.8.8.8@127.0.0.1",
        "0000:127.0.0.1",
        "256.256.256.256",
    ]
    .map(str::to_owned)
    .to_vec();
    for (a, b) in [
        (10, 0),
        (10, 255),
        (172, 16),
        (172, 31),
        (192, 168),
        (100, 64),
        (100, 127),
        (198, 18),
        (198, 19),
        (127, 7),
        (0, 1),
        (224, 0),
        (239, 9),
        (240, 0),
        (255, 255),
    ] {
        for c in [0, 1, 254] {
            hosts.push(format!("{a}.{b}.{c}.1"));
            hosts.push(format!("[::ffff:{a}.{b}.{c}.1]"));
            hosts.push(format!("[64:ff9b::{a}.{b}.{c}.1]"));
            let number = u32::from_be_bytes([a, b, c, 1]);
            hosts.push(format!("{number}"));
            hosts.push(format!("0x{number:08x}"));
            hosts.push(format!(
                "[2002:{:x}:{:x}::1]",
                number >> 16,
                number & 0xffff
            ));
        }
    }
    hosts
}

/// Paths that lead out of a root, in many spellings.
fn paths(outside: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for ups in 1..=12 {
        for up in ["../", "./../", "..//", "a/../../", ".././", "folder/../../"] {
            for target in ["secret.txt", "out/secret.txt", "etc/passwd", "etc/shadow"] {
                paths.push(format!("{}{target}", up.repeat(ups)));
            }
        }
    }
    for target in [
        "/etc/passwd",
        "/etc/shadow",
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        "/dev/stdin",
        "/sys/kernel/notes",
        "~/../etc/passwd",
        "~/.ssh/id_rsa",
        "link.txt",
        "folder-link/secret.txt",
        "folder/../link.txt",
        "dangling.txt",
        "./link.txt",
        "absolute-link.txt",
        "chain.txt",
        "file:///etc/passwd",
        "..\\..\\etc\\passwd",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "..;/secret.txt",
        "....//secret.txt",
        "\u{2025}/secret.txt",
    ] {
        paths.push(target.to_owned());
    }
    paths.push(outside.to_owned());
    paths
}

#[tokio::test]
async fn no_hostile_reference_is_reached() {
    let server = WebServer::start().await;
    let port = server.port;
    let mut urls = Vec::new();
    for host in hosts() {
        for scheme in ["http", "https", "HTTP"] {
            urls.push(format!("{scheme}://{host}:{port}/text"));
        }
    }
    for scheme in [
        "file",
        "ftp",
        "gopher",
        "dict",
        "ldap",
        "data",
        "javascript",
        "jar",
        "unix",
    ] {
        urls.push(format!("{scheme}://127.0.0.1:{port}/text"));
    }

    let dir = tempfile::tempdir().expect("temporary folder");
    let (root, outside) = (dir.path().join("root"), dir.path().join("out"));
    std::fs::create_dir_all(root.join("folder")).expect("folders");
    std::fs::create_dir_all(&outside).expect("a folder");
    for place in [dir.path().join("secret.txt"), outside.join("secret.txt")] {
        std::fs::write(place, "the secret").expect("written");
    }
    let link = |to: &std::path::Path, name: &str| {
        std::os::unix::fs::symlink(to, root.join(name)).expect("a link");
    };
    link(&outside.join("secret.txt"), "absolute-link.txt");
    link("../out/secret.txt".as_ref(), "link.txt");
    link("../out".as_ref(), "folder-link");
    link("../missing".as_ref(), "dangling.txt");
    link("link.txt".as_ref(), "chain.txt");
    let paths = paths(&outside.join("secret.txt").display().to_string());
    assert!(
        urls.len() + paths.len() >= 1_000,
        "{} and {}",
        urls.len(),
        paths.len()
    );

    let options = Options {
        http: HttpOptions {
            plain: true,
            // Every name is one of this machine.
            lookup: Arc::new(|_| Ok(vec![[127, 0, 0, 1].into(), [169, 254, 169, 254].into()])),
            ..HttpOptions::default()
        },
        files: Files {
            roots: vec![root],
            max_bytes: 1 << 20,
        },
        ..Options::default()
    };
    let fetcher = Fetcher::new(options.http.clone());
    for url in &urls {
        let fetched = fetcher.fetch(url).await;
        let (failure, why) = fetched.expect_err(url);
        assert!(!why.is_empty());
        let refused = matches!(
            failure,
            Failure::AddressRefused | Failure::SchemeRefused | Failure::Unsupported
        );
        assert!(refused, "{url}: {failure:?} {why}");
    }
    assert_eq!(server.requests(), 0);
    for path in &paths {
        let (failure, _) = options.files.read(path, None).expect_err(path);
        let refused = matches!(failure, Failure::OutsideRoots | Failure::NotFound);
        assert!(refused, "{path}: {failure:?}");
    }
    // The same through the whole of it, as a task would name them.
    let hydrator = hydrator(options);
    let all: Vec<&String> = urls.iter().chain(&paths).collect();
    for part in all.chunks(250) {
        let text: Vec<&str> = part.iter().map(|text| text.as_str()).collect();
        let config = PreHydration {
            max_references: 1_000,
            ..config(&[("url", BUILTIN_HTTP), ("file", BUILTIN_FILE)])
        };
        let hydrated = hydrate(&hydrator, job(&text.join("\n"), config)).await;
        assert_eq!(hydrated.resolved(), 0, "{:?}", hydrated.message);
        assert!(!hydrated.message.contains("the secret"));
    }
    assert_eq!(server.requests(), 0);
}
