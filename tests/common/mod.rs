//! The real binary, started for a test and ended with it.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tonic::transport::Channel;

/// Long enough for a slow machine; a test that works ends much earlier.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The binary under test.
pub fn signalbox() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signalbox"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SIGNALBOX_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a one-shot command to its end.
pub fn run(args: &[&str]) -> Output {
    signalbox().args(args).output().expect("the binary runs")
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// One HTTP/1.1 exchange: status and body.
pub fn http(address: &str, request: &str) -> (u16, String) {
    use std::io::{Read, Write};

    let mut stream = std::net::TcpStream::connect(address).expect("connects");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (status.expect("status"), body.to_owned())
}

/// Value of a series: its name and labels up to the space, written as they are shown.
pub fn value(metrics: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let mut found = metrics.lines().filter(|line| {
        let (series, _) = line.split_once(' ').unwrap_or((line, ""));
        let (base, _) = series.split_once('{').unwrap_or((series, ""));
        base == name && labels.iter().all(|label| series.contains(label))
    });
    found.next()?.rsplit(' ').next()?.parse().ok()
}

/// A running server.
pub struct Server {
    child: Child,
    lines: mpsc::Receiver<String>,
    /// Address of the admin listener.
    pub admin: String,
    pub address: String,
    pub socket: PathBuf,
    dir: tempfile::TempDir,
}

impl Server {
    /// Starts a server without a model over a small catalogue, on a free port and a socket,
    /// and waits until it is ready.
    pub fn start(extra: &[&str]) -> Self {
        let mut server = Self::spawn(&[&["--model", "none"], extra].concat());
        server.wait_for("ready");
        server
    }

    /// Starts a server and waits until it listens.
    pub fn spawn(extra: &[&str]) -> Self {
        Self::spawn_with(extra, &[])
    }

    /// The same with variables of the environment.
    pub fn spawn_with(extra: &[&str], env: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("temporary folder");
        let catalogue = dir.path().join("small.yaml");
        std::fs::write(&catalogue, SMALL_CATALOGUE).expect("catalogue written");
        let socket = dir.path().join("s.sock");
        let mut child = signalbox()
            .args(["serve", "--listen", "127.0.0.1:0", "--uds"])
            .arg(&socket)
            .arg("--catalog")
            .arg(&catalogue)
            // Servers of tests run side by side.
            .env("SIGNALBOX_ADMIN__LISTEN", "127.0.0.1:0")
            .envs(env.iter().copied())
            .args(extra)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("piped");
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut server = Self {
            child,
            lines,
            admin: String::new(),
            address: String::new(),
            socket,
            dir,
        };
        let line = server.wait_for("admin on ");
        server.admin = line.trim_start_matches("admin on ").to_owned();
        let line = server.wait_for("listening on 127.0.0.1:");
        server.address = line.trim_start_matches("listening on ").to_owned();
        server.wait_for("listening on unix:");
        server
    }

    /// Waits for a line of its standard output.
    pub fn wait_for(&mut self, prefix: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(deadline - Instant::now()) {
            if line.starts_with(prefix) {
                return line;
            }
        }
        panic!("the server did not print {prefix:?}");
    }

    /// A connection over TCP.
    pub async fn channel(&self) -> Channel {
        let uri = format!("http://{}", self.address);
        Channel::from_shared(uri)
            .expect("address")
            .connect()
            .await
            .expect("connects")
    }

    /// A folder that lives as long as the server.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([format!("-{name}"), self.child.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(status.success());
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("state").is_none()
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("state") {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SMALL_CATALOGUE: &str = r"
kind: command
source: small
entries:
  - name: git-branch
    source_hint: git
    responsibility: Create and manage branches
    aliases: [branch]
    examples: [start a new branch for the login page]
  - name: git-commit
    source_hint: git
    responsibility: Record changes in the repository
  - name: Read
    kind: tool
    responsibility: Read the content of a file
  - name: summary
    kind: skill
    responsibility: Summarise a text
";
