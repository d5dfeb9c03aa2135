//! The doors: a TCP address, a Unix socket, or both, and closing them in time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Edge;

/// Connections open at once; further ones are closed at once.
const MAX_CONNECTIONS: usize = 1_024;

/// Streams of one connection; calls beyond the admission limits are refused with a reason,
/// so this only bounds memory.
const MAX_STREAMS_PER_CONNECTION: u32 = 2_048;

/// Bytes of a call's headers.
const MAX_HEADER_BYTES: u32 = 16 << 10;

/// A connection that does not answer pings for this long is closed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Bound listeners.
#[derive(Debug, Default)]
pub struct Doors {
    tcp: Option<TcpListener>,
    uds: Option<(UnixListener, SocketFile)>,
}

/// A socket file that is removed with its listener.
#[derive(Debug)]
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Doors {
    /// Binds what is configured.
    pub async fn bind(tcp: Option<std::net::SocketAddr>, uds: Option<&Path>) -> io::Result<Self> {
        let name = |error: io::Error, what: &dyn std::fmt::Display| {
            io::Error::new(error.kind(), format!("cannot listen on {what}: {error}"))
        };
        let mut doors = Self::default();
        if let Some(address) = tcp {
            let listener = TcpListener::bind(address).await;
            doors.tcp = Some(listener.map_err(|error| name(error, &address))?);
        }
        if let Some(path) = uds {
            let listener = bind_socket(path).map_err(|error| name(error, &path.display()))?;
            doors.uds = Some((listener, SocketFile(path.to_owned())));
        }
        Ok(doors)
    }

    /// Addresses that are open, as a client would write them.
    pub fn addresses(&self) -> Vec<String> {
        let tcp = self
            .tcp
            .iter()
            .filter_map(|listener| listener.local_addr().ok());
        let uds = self
            .uds
            .iter()
            .map(|(_, file)| format!("unix:{}", file.0.display()));
        tcp.map(|address| address.to_string()).chain(uds).collect()
    }
}

/// Binds a Unix socket that owner and group may use; a file left by a process that is gone
/// makes room, one that somebody answers on does not.
fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixStream;

    if let Ok(metadata) = std::fs::symlink_metadata(path) {
        if !metadata.file_type().is_socket() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "is there and no socket",
            ));
        }
        if UnixStream::connect(path).is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "somebody listens there",
            ));
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))?;
    Ok(listener)
}

/// Serves until `drain` is cancelled, then lets calls in flight go on for `grace`. Returns
/// whether all of them ended in that time.
pub async fn serve(doors: Doors, edge: Edge, drain: CancellationToken, grace: Duration) -> bool {
    let server = Arc::new(Server {
        edge,
        http: http2(),
        room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        graceful: GracefulShutdown::new(),
    });
    let tcp = async {
        let Some(listener) = &doors.tcp else { return };
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Small messages both ways: waiting to fill a packet only costs time.
                    let _ = stream.set_nodelay(true);
                    server.open(stream);
                }
                Err(error) => wait_after(error).await,
            }
        }
    };
    let uds = async {
        let Some((listener, _)) = &doors.uds else {
            return;
        };
        loop {
            match listener.accept().await {
                Ok((stream, _)) => server.open(stream),
                Err(error) => wait_after(error).await,
            }
        }
    };
    tokio::select! {
        () = drain.cancelled() => {}
        ((), ()) = async { tokio::join!(tcp, uds) } => drain.cancelled().await,
    }
    drop(doors);
    let Ok(server) = Arc::try_unwrap(server) else {
        return false;
    };
    tokio::time::timeout(grace, server.graceful.shutdown())
        .await
        .is_ok()
}

/// Accepting fails for want of file descriptors or because a client was faster to leave:
/// waiting a little is right for the first and harmless for the second.
async fn wait_after(error: io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(20)).await;
}

fn http2() -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new()).http2_only();
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS_PER_CONNECTION)
        .max_header_list_size(MAX_HEADER_BYTES)
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE);
    http
}

struct Server {
    edge: Edge,
    http: auto::Builder<TokioExecutor>,
    room: Arc<Semaphore>,
    graceful: GracefulShutdown,
}

impl Server {
    fn open<S>(&self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Ok(permit) = self.room.clone().try_acquire_owned() else {
            tracing::warn!("{MAX_CONNECTIONS} connections are open; one more was closed");
            return;
        };
        let edge = self.edge.clone();
        let service = hyper::service::service_fn(move |request| edge.clone().handle(request));
        let connection = self
            .http
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        let watched = self.graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
}
