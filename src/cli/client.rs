//! Talking to a running server.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::Failure;
use super::args::HealthcheckArgs;

const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);

/// Connects to `HOST:PORT`, `http://HOST:PORT` or `unix:PATH`.
pub(super) async fn connect(server: &str) -> anyhow::Result<Channel> {
    let address = match server.strip_prefix("unix:") {
        // tonic takes `unix:PATH` as it is; `unix://PATH` is the same place.
        Some(path) => format!("unix:{}", path.strip_prefix("//").unwrap_or(path)),
        None if server.starts_with("http://") => server.to_owned(),
        None => format!("http://{server}"),
    };
    let endpoint = Endpoint::from_shared(address)
        .with_context(|| format!("{server:?} is no address"))?
        .connect_timeout(CONNECT)
        .timeout(ANSWER);
    endpoint
        .connect()
        .await
        .with_context(|| format!("no server answers on {server}"))
}

/// Asks for one health name.
pub(super) async fn healthcheck(args: &HealthcheckArgs) -> Result<ExitCode, Failure> {
    let mut client = HealthClient::new(connect(&args.server).await?);
    let request = HealthCheckRequest {
        service: args.service.clone(),
    };
    let response = client
        .check(request)
        .await
        .map_err(|status| anyhow::anyhow!("{}: {}", status.code(), status.message()))?;
    let status = response.into_inner().status();
    println!("{}", status.as_str_name());
    Ok(if status == ServingStatus::Serving {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
