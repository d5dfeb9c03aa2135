//! signalbox: a gRPC sidecar that routes prompts to commands, tools and skills.
//!
//! | module | owns |
//! |---|---|
//! | [`catalog`] | entries, and the files they are read from |
//! | [`error`] | errors that name the field and the limit |
//! | [`store`] | the SQLite file behind catalogue and vectors |

pub mod catalog;
pub mod embed;
pub mod error;
pub mod store;
