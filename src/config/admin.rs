//! `[admin]`.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::error::Violations;

/// Where health and metrics are served if nothing else is said.
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(
    std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
    // The port that OpenTelemetry names for Prometheus exporters.
    9464,
);

/// The operator's listener.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdminConfig {
    /// Address of health and metrics; empty for none. Where absent, 127.0.0.1:9464 is tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
}

/// What is wanted of the admin listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminDoor {
    /// None.
    Closed,
    /// The default address, unless another process has it: several servers on one machine
    /// must not need a flag each.
    IfFree(SocketAddr),
    /// This address, or the server does not start.
    At(SocketAddr),
}

impl AdminConfig {
    /// What is wanted.
    pub fn door(&self) -> AdminDoor {
        match self.listen.as_deref() {
            None => AdminDoor::IfFree(DEFAULT_LISTEN),
            Some(text) => text.parse().map_or(AdminDoor::Closed, AdminDoor::At),
        }
    }

    pub(super) fn check(&self, violations: &mut Violations) {
        if let Some(text) = &self.listen
            && !text.is_empty()
            && text.parse::<SocketAddr>().is_err()
        {
            let message = format!("{text:?} is no address such as 127.0.0.1:9464");
            violations.add("admin.listen", message);
        }
    }
}
