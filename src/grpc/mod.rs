//! The wire: protobuf in, domain calls, protobuf out.
//!
//! Only this module knows tonic and prost. A service reads its request into domain types,
//! calls the domain, and writes the answer; it decides nothing.

mod catalog;
pub mod codec;
mod convert;
mod edge;
pub mod error;
mod health;
mod hydrate;
mod journal;
mod knowledge;
mod loops;
mod route;
mod server;
mod system;
mod told;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tonic::service::Routes;

use crate::config::LimitsConfig;
use crate::embed::Embedder;
use crate::error::Violations;
use crate::hydrate::Hydrator;
use crate::journal::{Journal, LoopEvent};
use crate::knowledge::Knowledge;
use crate::lifecycle::Readiness;
use crate::preferences::PreferenceBook;
use crate::registry::Registry;
use crate::route::Router;
use crate::session::LoopHub;

pub use edge::Edge;
pub use health::HealthDoor;
pub use server::{Doors, serve};

/// Generated from `proto/signalbox/v1`.
#[allow(missing_docs, clippy::all, clippy::unwrap_used)]
pub mod pb {
    tonic::include_proto!("signalbox.v1");

    /// All compiled files, for reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
}

/// Full names of our services, for health.
pub const SERVICES: [&str; 6] = [
    "signalbox.v1.CatalogService",
    "signalbox.v1.JournalService",
    "signalbox.v1.KnowledgeService",
    "signalbox.v1.LoopService",
    "signalbox.v1.RouteService",
    "signalbox.v1.SystemService",
];

/// What the services work on.
#[derive(Clone)]
pub struct Domain {
    /// Routes prompts.
    pub router: Router,
    /// The live catalogue.
    pub registry: Registry,
    /// What tenants and users prefer.
    pub preferences: PreferenceBook,
    /// The encoder.
    pub embedder: Embedder,
    /// What happened in loops.
    pub journal: Journal,
    /// Loops that are watched.
    pub loops: LoopHub,
    /// Fetches what a task refers to.
    pub hydrator: Hydrator,
    /// Facts and conventions.
    pub knowledge: Knowledge,
    /// Whether each routing decision is journaled.
    pub journal_routes: bool,
    /// Time between two heartbeats of a quiet stream of events.
    pub heartbeat: Duration,
    /// Whether new work is welcome.
    pub readiness: Arc<Readiness>,
    /// What the server takes at most.
    pub limits: Arc<LimitsConfig>,
    /// Whether changes outlive the process.
    pub durable: bool,
    /// Cancelled when the server begins to drain.
    pub draining: CancellationToken,
}

/// All services behind one door.
pub async fn routes(domain: Domain) -> Result<Routes, tonic_reflection::server::Error> {
    use pb::catalog_service_server::CatalogServiceServer;
    use pb::journal_service_server::JournalServiceServer;
    use pb::knowledge_service_server::KnowledgeServiceServer;
    use pb::loop_service_server::LoopServiceServer;
    use pb::route_service_server::RouteServiceServer;
    use pb::system_service_server::SystemServiceServer;

    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(pb::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let size = domain.limits.max_message_bytes;
    Ok(Routes::new(health::service(&domain.readiness).await)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .add_service(
            RouteServiceServer::new(route::Service::new(domain.clone()))
                .max_decoding_message_size(size),
        )
        .add_service(
            CatalogServiceServer::new(catalog::Service::new(domain.clone()))
                .max_decoding_message_size(size),
        )
        .add_service(
            JournalServiceServer::new(journal::Service::new(domain.clone()))
                .max_decoding_message_size(size),
        )
        .add_service(
            KnowledgeServiceServer::new(knowledge::Service::new(domain.clone()))
                .max_decoding_message_size(size),
        )
        .add_service(
            LoopServiceServer::new(loops::Service::new(domain.clone()))
                .max_decoding_message_size(size),
        )
        .add_service(
            SystemServiceServer::new(system::Service::new(domain)).max_decoding_message_size(size),
        ))
}

/// An answer as it goes over the wire, for the command line, which shows both in one way.
pub fn response_of(
    result: crate::route::RouteResult,
    route_id: String,
    full: bool,
) -> pb::RouteResponse {
    convert::result_to(result, route_id, full)
}

/// An event as it came over the wire, for the command line, which shows both in one way.
///
/// # Errors
///
/// What of it this version does not know.
pub fn event_of(event: pb::LoopEvent) -> Result<LoopEvent, Violations> {
    let mut violations = Violations::default();
    let event = convert::event_from(event, "", &mut violations);
    violations.into_result()?;
    event.ok_or_else(Violations::default)
}
