//! `builtin:http`: one page, by GET, and its redirects.
//!
//! The name is resolved here, and the connection goes to an address that was checked; a second
//! look-up, by which a name could change its mind, does not exist. The address that the socket
//! says it is connected to is checked once more. All of it happens again for every redirect.
//! Nothing is sent but the request: no cookies, no credentials.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tokio_util::task::AbortOnDropHandle;
use url::{Host, Url};

use super::address::AddressRules;
use super::job::Failure;
use super::page::{MediaType, text_of};

/// Redirects that are followed.
const MAX_REDIRECTS: usize = 3;
/// Addresses of one name that are tried.
const MAX_ADDRESSES: usize = 4;
/// Time for one of them, where there are more.
const CONNECT_TIME: Duration = Duration::from_secs(3);
/// Names that are looked up at once: a look-up cannot be broken off, so those that nobody
/// waits for any more still count.
const LOOKUPS_AT_ONCE: usize = 32;
/// Headers of an answer.
const MAX_HEADERS: usize = 128;
/// Bytes of the head of an answer.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Who asks.
const USER_AGENT: &str = concat!("signalbox/", env!("CARGO_PKG_VERSION"));
/// What is asked for, best first.
const ACCEPT: &str =
    "text/markdown, text/plain;q=0.9, text/html;q=0.8, application/json;q=0.8, */*;q=0.1";

/// Looks up the addresses of a name; may block.
pub type Lookup = Arc<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// What an operator allows.
#[derive(Clone)]
pub struct HttpOptions {
    /// Whether URLs are fetched at all.
    pub enabled: bool,
    /// Whether without TLS, too.
    pub plain: bool,
    /// Bytes of an answer.
    pub max_bytes: usize,
    /// Which addresses may be connected to.
    pub addresses: AddressRules,
    /// Where names are looked up.
    pub lookup: Lookup,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            plain: false,
            max_bytes: 1 << 20,
            addresses: AddressRules::default(),
            lookup: Arc::new(|name| {
                let found = (name, 0).to_socket_addrs()?;
                Ok(found.map(|address| address.ip()).collect())
            }),
        }
    }
}

/// A page that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its text.
    pub text: String,
    /// The URL that answered, after redirects.
    pub url: String,
}

type Refusal = (Failure, String);

/// Fetches pages. Cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    options: HttpOptions,
    tls: TlsConnector,
    lookups: Arc<Semaphore>,
}

impl Fetcher {
    /// A fetcher that trusts the public certificate authorities.
    pub fn new(options: HttpOptions) -> Self {
        let roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self {
            options,
            tls: TlsConnector::from(Arc::new(config)),
            lookups: Arc::new(Semaphore::new(LOOKUPS_AT_ONCE)),
        }
    }

    /// The text behind a URL. Has no time limit of its own; dropping it breaks it off.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub async fn fetch(&self, url: &str) -> Result<Page, Refusal> {
        if !self.options.enabled {
            let why = "hydrate.http is switched off";
            return Err((Failure::ToolExcluded, why.into()));
        }
        let mut url = Url::parse(url)
            .map_err(|error| (Failure::Unsupported, format!("it is no URL: {error}")))?;
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let (response, connection) = self.get(&url).await?;
            let status = response.status();
            if let Some(target) = redirect_of(status, response.headers()) {
                url = url.join(target).map_err(|error| {
                    (Failure::HttpStatus, format!("{status} to no URL: {error}"))
                })?;
                continue;
            }
            if status != StatusCode::OK {
                return Err((Failure::HttpStatus, describe(status, response.headers())));
            }
            let text = self.read(response).await;
            drop(connection);
            return Ok(Page {
                text: text?,
                url: url.into(),
            });
        }
        let why = format!("more than {MAX_REDIRECTS} redirects");
        Err((Failure::TooManyRedirects, why))
    }

    /// What can be said of a URL before its name is looked up.
    fn check(&self, url: &Url) -> Result<(), Refusal> {
        match url.scheme() {
            "https" => {}
            "http" if self.options.plain => {}
            "http" => {
                let why = "only https is allowed: hydrate.plain_http is off";
                return Err((Failure::SchemeRefused, why.into()));
            }
            other => return Err((Failure::SchemeRefused, format!("{other:?} is not fetched"))),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err((Failure::Unsupported, "it carries credentials".into()));
        }
        Ok(())
    }

    async fn get(&self, url: &Url) -> Result<(Response<Incoming>, AbortOnDropHandle<()>), Refusal> {
        let host = url
            .host()
            .ok_or((Failure::Unsupported, "it has no host".to_owned()))?;
        let port = url.port_or_known_default().unwrap_or(443);
        let stream = self.connect(&host, port).await?;
        if url.scheme() == "http" {
            return ask(stream, url).await;
        }
        let name = match &host {
            Host::Domain(name) => ServerName::try_from((*name).to_owned())
                .map_err(|_| (Failure::Unsupported, format!("{name:?} is no host name")))?,
            Host::Ipv4(address) => ServerName::from(IpAddr::V4(*address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::V6(*address)),
        };
        let stream = self
            .tls
            .connect(name, stream)
            .await
            .map_err(|error| (Failure::Network, format!("TLS: {error}")))?;
        ask(stream, url).await
    }

    /// Connects to the first address of a host that may be connected to and answers.
    async fn connect(&self, host: &Host<&str>, port: u16) -> Result<TcpStream, Refusal> {
        let addresses = match host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => self.look_up(name).await?,
        };
        let mut refusal = (Failure::Network, "the name has no address".to_owned());
        let rules = &self.options.addresses;
        let allowed: Vec<IpAddr> = addresses
            .into_iter()
            .filter(|address| match rules.refusal(*address) {
                None => true,
                Some(what) => {
                    refusal = refused(*address, what);
                    false
                }
            })
            .take(MAX_ADDRESSES)
            .collect();
        let several = allowed.len() > 1;
        for address in allowed {
            let connecting = TcpStream::connect(SocketAddr::new(address, port));
            let connected = match several {
                true => tokio::time::timeout(CONNECT_TIME, connecting)
                    .await
                    .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
                false => connecting.await,
            };
            match connected {
                Ok(stream) => {
                    let peer = stream.peer_addr().map_err(|error| network(&error))?.ip();
                    return match rules.refusal(peer) {
                        None => Ok(stream),
                        Some(what) => Err(refused(peer, what)),
                    };
                }
                Err(error) => refusal = network(&error),
            }
        }
        Err(refusal)
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Refusal> {
        let failed = |why: String| (Failure::Network, format!("{name:?} is not found: {why}"));
        let permit = self.lookups.clone().acquire_owned().await;
        let permit = permit.map_err(|error| failed(error.to_string()))?;
        let (lookup, asked) = (self.options.lookup.clone(), name.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let found = lookup(&asked);
            drop(permit);
            found
        });
        match found.await {
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Reads a body of text within the limit.
    async fn read(&self, response: Response<Incoming>) -> Result<String, Refusal> {
        let headers = response.headers();
        let text_of_header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let media = MediaType::parse(text_of_header(header::CONTENT_TYPE).unwrap_or_default());
        if !media.may_be_text() {
            let shown: String = text_of_header(header::CONTENT_TYPE)
                .unwrap_or_default()
                .chars()
                .take(100)
                .collect();
            return Err((Failure::NotText, format!("{shown:?} is no text")));
        }
        let encoding = text_of_header(header::CONTENT_ENCODING).unwrap_or("identity");
        if !encoding.trim().eq_ignore_ascii_case("identity") {
            return Err((
                Failure::NotText,
                "it is compressed, which nobody asked for".into(),
            ));
        }
        let limit = self.options.max_bytes;
        let too_large = || (Failure::TooLarge, format!("more than {limit} bytes"));
        let mut body = response.into_body();
        if hyper::body::Body::size_hint(&body).lower() > limit as u64 {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| (Failure::Network, error.to_string()))?;
            let Some(data) = frame.data_ref() else {
                continue;
            };
            if bytes.len() + data.len() > limit {
                return Err(too_large());
            }
            bytes.extend_from_slice(data);
        }
        tokio::task::spawn_blocking(move || text_of(&bytes, &media))
            .await
            .unwrap_or_else(|error| Err((Failure::NotText, error.to_string())))
    }
}

/// Sends the request and waits for the head of the answer. The connection lives as long as
/// the handle.
async fn ask(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    url: &Url,
) -> Result<(Response<Incoming>, AbortOnDropHandle<()>), Refusal> {
    let failed = |error: hyper::Error| (Failure::Network, error.to_string());
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection for hydration broke off");
        }
    }));
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let request = Request::get(target)
        .header(header::HOST, host)
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::ACCEPT, ACCEPT)
        .header(header::ACCEPT_ENCODING, "identity")
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| (Failure::Unsupported, error.to_string()))?;
    let response = sender.send_request(request).await.map_err(failed)?;
    Ok((response, connection))
}

fn redirect_of(status: StatusCode, headers: &HeaderMap) -> Option<&str> {
    let redirects = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let target = headers.get(header::LOCATION).filter(|_| redirects)?;
    target.to_str().ok()
}

/// A status that gives no page, and when to ask again if it says so.
fn describe(status: StatusCode, headers: &HeaderMap) -> String {
    let later = headers
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .filter(|value| value.len() <= 40);
    match later {
        Some(later) => format!("{status}, try again after {later}"),
        None => status.to_string(),
    }
}

fn refused(address: IpAddr, what: &str) -> Refusal {
    let why = format!("{address} may not be connected to: {what}");
    (Failure::AddressRefused, why)
}

fn network(error: &io::Error) -> Refusal {
    (Failure::Network, error.to_string())
}
