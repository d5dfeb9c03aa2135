//! signalbox: a gRPC sidecar that routes prompts to commands, tools and skills.
//!
//! Data flows one way: `cli` and `grpc` call the domain (`route`, `registry`), which stands
//! on `index`, `embed` and `store`. Only `grpc` (and the command line's client) knows
//! protobuf.
//!
//! | module | owns |
//! |---|---|
//! | [`cli`] | the command line and its exit codes |
//! | [`config`] | every setting, its default and its limits |
//! | [`admin`] | the operator's listener: health, metrics |
//! | [`app`] | the composition root: build, bind, serve, drain |
//! | [`journal`] | what happened in loops: durable, streamed, replayable |
//! | [`lifecycle`] | readiness and signals |
//! | [`grpc`] | the services, admission, deadlines, errors on the wire |
//! | [`route`] | from a prompt to a decision |
//! | [`intent`] | the parts of a prompt: which are wanted, and in which order |
//! | [`plan`] | from a compound prompt to ordered steps |
//! | [`params`] | parameters that a prompt names |
//! | [`preferences`] | what tenants and users prefer |
//! | [`registry`] | the live catalogue: changes, vectors, watchers |
//! | [`index`] | token weights and vectors side by side; snapshots |
//! | [`embed`] | model files, tokenizer, encoder, its queue |
//! | [`store`] | the one SQLite file |
//! | [`adapt`] | tuning the encoder on labelled prompts |
//! | [`catalog`] | entries, and the files they are read from |
//! | [`session`] | the loop guard: configuration, tool profile, loop rules, budgets |
//! | [`telemetry`] | log, traces, metrics |
//! | [`hydrate`] | context before the first turn: references, fetched within a budget |
//! | [`knowledge`] | facts, and the conventions of a directory |
//! | [`text`] | tokens, scripts, nearest names, globs, similarity |
//! | [`eval`] | measuring the router on labelled prompts |
//! | [`error`] | errors that name the field and the limit |

pub mod adapt;
pub mod admin;
pub mod app;
pub mod calibrate;
pub mod catalog;
pub mod cli;
pub mod config;
pub mod embed;
pub mod error;
pub mod eval;
pub mod grpc;
pub mod hydrate;
pub mod index;
pub mod intent;
pub mod journal;
pub mod knowledge;
pub mod lifecycle;
pub mod params;
pub mod plan;
pub mod preferences;
pub mod registry;
pub mod route;
pub mod session;
pub mod store;
pub mod telemetry;
pub mod text;

/// Compiled-in features, sorted.
pub const FEATURES: &[&str] = &[
    #[cfg(feature = "cuda")]
    "cuda",
    #[cfg(feature = "hub")]
    "hub",
];
