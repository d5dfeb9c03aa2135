//! A web server that answers as badly as a test wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Listens on the loopback address until it is dropped.
pub struct WebServer {
    pub port: u16,
    requests: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl WebServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let counted = counted.clone();
                // A client that breaks off is what some tests are about.
                tokio::spawn(async move { answer(stream, port, &counted).await.ok() });
            }
        });
        Self {
            port,
            requests,
            task,
        }
    }

    /// Requests that were read whole.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut stream: TcpStream, port: u16, counted: &AtomicUsize) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await?;
        head.push(byte);
        if head.len() > 64 << 10 || head[0] == 0x16 {
            // Too long, or the first byte of a TLS handshake.
            return stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    }
    counted.fetch_add(1, Ordering::SeqCst);
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or("/").to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let say = |status: &str, headers: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}").into_bytes()
    };
    let text = "Content-Type: text/plain\r\n";
    let to = |place: &str| say("302 Found", &format!("Location: {place}\r\n"), "");
    let bytes = match path {
        "/text" => say("200 OK", text, &format!("text {query}")),
        "/page" => say(
            "200 OK",
            "Content-Type: text/html; charset=utf-8\r\n",
            "<html><script>script()</script><h1>Readable</h1></html>",
        ),
        "/slow" => {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            Vec::new()
        }
        "/404" => say("404 Not Found", text, "nothing"),
        "/429" => say("429 Too Many Requests", "Retry-After: 7\r\n", ""),
        "/500" => say("500 Internal Server Error", text, ""),
        "/huge-said" => {
            format!("HTTP/1.1 200 OK\r\n{text}Content-Length: 99999999\r\n\r\nx").into_bytes()
        }
        "/huge-streamed" => {
            let head = format!("HTTP/1.1 200 OK\r\n{text}Transfer-Encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            loop {
                // 64 KiB, for ever.
                stream.write_all(b"10000\r\n").await?;
                stream.write_all(&[b'x'; 0x10000]).await?;
                stream.write_all(b"\r\n").await?;
            }
        }
        "/binary" => say("200 OK", "Content-Type: image/png\r\n", "PNG"),
        "/zeros" => say("200 OK", text, "a\0b"),
        "/gzip" => say(
            "200 OK",
            "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n",
            "x",
        ),
        "/reset" => {
            let head = format!("HTTP/1.1 200 OK\r\n{text}Content-Length: 100\r\n\r\nhalf");
            head.into_bytes()
        }
        "/headers" => {
            let many = (0..1_000)
                .map(|n| format!("X-{n}: y\r\n"))
                .collect::<String>();
            say("200 OK", &many, "x")
        }
        "/garbage" => b"\x00\x01 not HTTP\r\n\r\n".to_vec(),
        "/redirect-nowhere" => to("http://"),
        "/redirect/0" => to("/text?end"),
        _ => match (
            path.strip_prefix("/redirect/"),
            path.strip_prefix("/redirect-to/"),
        ) {
            (Some("1"), _) => to("/text?end"),
            (Some(left), _) => {
                let left: u32 = left.parse().unwrap_or(1);
                to(&format!("http://127.0.0.1:{port}/redirect/{}", left - 1))
            }
            (_, Some(place)) => to(place),
            _ => say("404 Not Found", text, ""),
        },
    };
    stream.write_all(&bytes).await?;
    stream.shutdown().await
}
