//! What the edge tells of calls: their method, and how their status ended them.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Frame, SizeHint};
use prost::Message;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::error::{DOMAIN, Reason};
use super::pb;
use crate::route::DegradedReason;
use crate::telemetry::{Call, Ended, Methods, count};

/// Methods of the libraries' services, which our descriptors do not hold.
const FOREIGN: [&str; 5] = [
    "grpc.health.v1.Health/Check",
    "grpc.health.v1.Health/List",
    "grpc.health.v1.Health/Watch",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Every method that the server has.
pub(super) fn methods(traced: impl Fn(&str) -> bool) -> Methods {
    // Our own descriptors always decode.
    let descriptors = prost_types::FileDescriptorSet::decode(pb::DESCRIPTORS).unwrap_or_default();
    let ours = descriptors.file.iter().flat_map(|file| {
        file.service.iter().flat_map(move |service| {
            service.method.iter().map(move |method| {
                format!("{}.{}/{}", file.package(), service.name(), method.name())
            })
        })
    });
    let names: Vec<String> = ours.chain(FOREIGN.map(str::to_owned)).collect();
    Methods::new(names, traced)
}

/// Begins the counters of everything that can go wrong.
pub(super) fn expect_reasons() {
    let reasons = (1..).map_while(|number| Reason::try_from(number).ok());
    let errors: Vec<_> = reasons.map(name).collect();
    let degraded = DegradedReason::ALL.map(DegradedReason::as_str);
    count::expect(&errors, &degraded);
}

fn name(reason: Reason) -> &'static str {
    reason.as_str_name().trim_start_matches("ERROR_REASON_")
}

/// Lets a call end with its response.
pub(super) fn follow(response: Response<Body>, mut call: Call) -> Response<Body> {
    if let Some(status) = Status::from_header_map(response.headers()) {
        call.end(&ended(&status));
        return response;
    }
    response.map(|body| Body::new(Followed { body, call }))
}

fn ended(status: &Status) -> Ended {
    let reason = status
        .get_details_error_info()
        .filter(|info| info.domain == DOMAIN)
        .and_then(|info| Reason::from_str_name(&format!("ERROR_REASON_{}", info.reason)));
    Ended {
        code: code_name(status.code()),
        is_fault: matches!(
            status.code(),
            Code::Unknown
                | Code::DeadlineExceeded
                | Code::Unimplemented
                | Code::Internal
                | Code::Unavailable
                | Code::DataLoss
        ),
        reason: reason.map_or("", name),
    }
}

/// A body that tells how it ends. Dropped before its end, it tells that its caller has gone.
struct Followed {
    body: Body,
    call: Call,
}

impl http_body::Body for Followed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(trailers) = frame.trailers_ref() {
                    let ended = ended_by(trailers);
                    self.call.end(&ended);
                }
            }
            Poll::Ready(Some(Err(status))) => {
                let ended = ended(status);
                self.call.end(&ended);
            }
            Poll::Ready(None) | Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn ended_by(trailers: &HeaderMap) -> Ended {
    match Status::from_header_map(trailers) {
        Some(status) => ended(&status),
        None => ended(&Status::ok("")),
    }
}

/// The name that gRPC gives a code.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_callers_make_up_have_one_name() {
        let methods = methods(|path| !path.starts_with("/grpc."));
        let name = |path: &str| format!("{:?}", methods.of(path));
        assert!(
            name("/signalbox.v1.RouteService/Route").contains("signalbox.v1.RouteService/Route")
        );
        for made_up in ["/signalbox.v1.RouteService/Reroute", "/x/y", ""] {
            assert!(name(made_up).contains("_OTHER"), "{made_up}");
        }
    }

    #[test]
    fn every_degraded_reason_is_counted_from_the_start() {
        let known = (1..).map_while(|number| pb::DegradedReason::try_from(number).ok());
        assert_eq!(DegradedReason::ALL.len(), known.count());
    }

    #[test]
    fn only_the_servers_own_faults_are_faults() {
        assert!(ended(&Status::internal("")).is_fault);
        assert!(!ended(&Status::invalid_argument("")).is_fault);
    }
}
