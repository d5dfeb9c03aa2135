//! `LoopService`.

use std::pin::Pin;

use tokio::sync::mpsc;
use tokio::time::{Duration, interval};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};
use tracing::Instrument;

use super::Domain;
use super::convert::{
    attempt_to, created_to, event_from, filtered_to, loop_to, new_loop_from, profile_from,
    reason_from, step_from, tool_from, verdict_to,
};
use super::error::{complete, invalid, status};
use super::hydrate;
use super::pb;
use super::pb::loop_service_server::LoopService;
use super::pb::run_loop_request::Message as Ask;
use super::pb::run_loop_response::Message as Tell;
use crate::error::Violations;
use crate::session::hub::{Answer, Hold, LoopError, LoopHub, Reported};
use crate::session::{Tool, ToolProfile};
use crate::telemetry::{count, genai};

/// Answers that wait for a client before its next message is read.
const STREAM_BUFFER: usize = 16;

/// How often a stream looks whether its loop has ended by itself.
const LOOK: Duration = Duration::from_millis(500);

/// Implements the service.
pub(super) struct Service {
    domain: Domain,
}

impl Service {
    pub(super) fn new(domain: Domain) -> Self {
        Self { domain }
    }
}

#[tonic::async_trait]
impl LoopService for Service {
    async fn create_loop(
        &self,
        request: Request<pb::CreateLoopRequest>,
    ) -> Result<Response<pb::CreateLoopResponse>, Status> {
        create(&self.domain.loops, request.into_inner())
            .await
            .map(Response::new)
    }

    async fn filter_tools(
        &self,
        request: Request<pb::FilterToolsRequest>,
    ) -> Result<Response<pb::FilterToolsResponse>, Status> {
        filter(&self.domain.loops, request.into_inner())
            .await
            .map(Response::new)
    }

    async fn record_attempt(
        &self,
        request: Request<pb::RecordAttemptRequest>,
    ) -> Result<Response<pb::RecordAttemptResponse>, Status> {
        attempt(&self.domain.loops, request.into_inner())
            .await
            .map(Response::new)
    }

    async fn report_step(
        &self,
        request: Request<pb::ReportStepRequest>,
    ) -> Result<Response<pb::ReportStepResponse>, Status> {
        report(&self.domain.loops, request.into_inner())
            .await
            .map(Response::new)
    }

    async fn get_loop(
        &self,
        request: Request<pb::GetLoopRequest>,
    ) -> Result<Response<pb::GetLoopResponse>, Status> {
        let view = self
            .domain
            .loops
            .get(&request.into_inner().loop_id)
            .await
            .map_err(status)?;
        Ok(Response::new(pb::GetLoopResponse {
            r#loop: Some(loop_to(view)),
        }))
    }

    async fn close_loop(
        &self,
        request: Request<pb::CloseLoopRequest>,
    ) -> Result<Response<pb::CloseLoopResponse>, Status> {
        let ended = close(&self.domain.loops, request.into_inner()).await?;
        Ok(Response::new(pb::CloseLoopResponse {
            r#loop: Some(ended),
        }))
    }

    type RunLoopStream = Pin<Box<dyn Stream<Item = Result<pb::RunLoopResponse, Status>> + Send>>;

    async fn extract_references(
        &self,
        request: Request<pb::ExtractReferencesRequest>,
    ) -> Result<Response<pb::ExtractReferencesResponse>, Status> {
        hydrate::extract(&self.domain, request.into_inner())
            .await
            .map(Response::new)
    }

    type HydrateContextStream =
        Pin<Box<dyn Stream<Item = Result<pb::HydrateContextResponse, Status>> + Send>>;

    async fn hydrate_context(
        &self,
        request: Request<Streaming<pb::HydrateContextRequest>>,
    ) -> Result<Response<Self::HydrateContextStream>, Status> {
        let (answers, receiver) = mpsc::channel(STREAM_BUFFER);
        let domain = self.domain.clone();
        let asked = request.into_inner();
        tokio::spawn(async move {
            if let Err(error) = hydrate::run(&domain, asked, &answers).await {
                // A client that has gone needs no closing words.
                let _ = answers.send(Err(error)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn run_loop(
        &self,
        request: Request<Streaming<pb::RunLoopRequest>>,
    ) -> Result<Response<Self::RunLoopStream>, Status> {
        let (answers, receiver) = mpsc::channel(STREAM_BUFFER);
        let domain = self.domain.clone();
        let asked = request.into_inner();
        let work = async move {
            let error = match Session::begin(&domain, asked, answers.clone()).await {
                Ok(Some(session)) => session.run().await.err(),
                Ok(None) => None,
                Err(error) => Some(error),
            };
            if let Some(error) = error {
                // A client that has gone needs no closing words.
                let _ = answers.send(Err(error)).await;
            }
        };
        tokio::spawn(work.in_current_span());
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

async fn create(
    hub: &LoopHub,
    request: pb::CreateLoopRequest,
) -> Result<pb::CreateLoopResponse, Status> {
    let mut violations = Violations::default();
    let new = new_loop_from(request, &mut violations);
    if !violations.as_slice().is_empty() {
        // What could be read is checked as well, so that all of it is named at once.
        for found in new.check().as_slice() {
            if !violations
                .as_slice()
                .iter()
                .any(|known| known.field == found.field)
            {
                violations.push(found.clone());
            }
        }
        return Err(status(violations));
    }
    let tools = new.tools.clone();
    let created = hub.create(new).await.map_err(status)?;
    genai::conversation(&created.view.loop_id, &created.view.agent_id);
    Ok(created_to(created, &tools, hub.trust()))
}

async fn filter(
    hub: &LoopHub,
    request: pb::FilterToolsRequest,
) -> Result<pb::FilterToolsResponse, Status> {
    use pb::filter_tools_request::ProfileSource;

    let tools: Vec<Tool> = request.tools.into_iter().map(tool_from).collect();
    let filtered = match request.profile_source {
        Some(ProfileSource::LoopId(loop_id)) => {
            hub.filter_for(&loop_id, &tools, &request.prompt).await
        }
        Some(ProfileSource::Profile(profile)) => {
            let mut violations = Violations::default();
            let profile = profile_from(profile, "profile.", &mut violations);
            violations.into_result().map_err(status)?;
            hub.filter(&profile, &tools, &request.prompt)
        }
        None => hub.filter(&ToolProfile::default(), &tools, &request.prompt),
    }
    .map_err(status)?;
    Ok(pb::FilterToolsResponse {
        tools: Some(filtered_to(&filtered, &tools, hub.trust())),
    })
}

async fn attempt(
    hub: &LoopHub,
    request: pb::RecordAttemptRequest,
) -> Result<pb::RecordAttemptResponse, Status> {
    use pb::record_attempt_request::What;

    let reported = match request.what {
        Some(What::Begin(_)) => Reported::Begin,
        Some(What::Failed(failed)) => Reported::Failed {
            action: failed.action,
            error: failed.error,
        },
        None => return Err(invalid("what", "must be begin or failed")),
    };
    let answer = hub.report(
        &request.loop_id,
        &request.request_id,
        &request.step_id,
        reported,
    );
    let answer = answer.await.map_err(status)?;
    tell(&request.loop_id, &answer);
    Ok(attempt_to(&answer))
}

async fn report(
    hub: &LoopHub,
    request: pb::ReportStepRequest,
) -> Result<pb::ReportStepResponse, Status> {
    use pb::report_step_request::Report;

    let mut violations = Violations::default();
    let reported = match request.report {
        Some(Report::Step(step)) => Some(step_from(step, &mut violations)),
        Some(Report::Event(event)) => event_from(event, "event.", &mut violations)
            .map(|event| Reported::Event(Box::new(event))),
        None => {
            violations.add("report", "must be a step or an event");
            None
        }
    };
    violations.into_result().map_err(status)?;
    let Some(reported) = reported else {
        return Err(invalid("report", "cannot be read"));
    };
    let answer = hub.report(
        &request.loop_id,
        &request.request_id,
        &request.step_id,
        reported,
    );
    let answer = answer.await.map_err(status)?;
    tell(&request.loop_id, &answer);
    Ok(pb::ReportStepResponse {
        verdict: Some(verdict_to(&answer)),
    })
}

/// Counts a verdict, and says on the call's span which loop it is about.
fn tell(loop_id: &str, answer: &Answer) {
    let verdict = &answer.verdict;
    let rule = verdict.rule.map_or("", |rule| rule.as_str());
    count::judged(verdict.decision.as_str(), rule);
    genai::conversation(loop_id, "");
}

async fn close(hub: &LoopHub, request: pb::CloseLoopRequest) -> Result<pb::Loop, Status> {
    let mut violations = Violations::default();
    let reason = reason_from(request.reason, &mut violations);
    violations.into_result().map_err(status)?;
    let view = hub
        .close(&request.loop_id, reason, &request.detail)
        .await
        .map_err(status)?;
    Ok(loop_to(view))
}

type Answers = mpsc::Sender<Result<pb::RunLoopResponse, Status>>;

/// One stream of `RunLoop`, begun.
struct Session {
    domain: Domain,
    asked: Streaming<pb::RunLoopRequest>,
    answers: Answers,
    loop_id: String,
    /// Sequence of the last verdict that was sent.
    sequence: i64,
    /// Keeps the lease.
    _hold: Hold,
}

impl Session {
    /// Begins or resumes the loop that the first message names; none where the client has gone.
    async fn begin(
        domain: &Domain,
        mut asked: Streaming<pb::RunLoopRequest>,
        answers: Answers,
    ) -> Result<Option<Self>, Status> {
        let hub = &domain.loops;
        let Some(first) = asked.message().await.map_err(complete)? else {
            return Ok(None);
        };
        let (loop_id, mut sequence, tell) = match first.message {
            Some(Ask::Create(request)) => {
                let created = create(hub, request).await?;
                let id = created.r#loop.as_ref().map(|made| made.loop_id.clone());
                (id.unwrap_or_default(), 0, Tell::Created(created))
            }
            Some(Ask::Resume(resume)) => {
                let view = hub.get(&resume.loop_id).await.map_err(status)?;
                (
                    resume.loop_id,
                    resume.last_sequence,
                    Tell::Resumed(loop_to(view)),
                )
            }
            _ => return Err(invalid("message", "the first must be create or resume")),
        };
        let hold = hub.hold(&loop_id).await.map_err(status)?;
        let resumed = matches!(tell, Tell::Resumed(_));
        if send(&answers, first.message_id, tell).await.is_err() {
            return Ok(None);
        }
        if resumed {
            let from = u64::try_from(sequence)
                .map_err(|_| invalid("resume.last_sequence", "is negative"))?;
            for missed in hub.verdicts_after(&loop_id, from).await.map_err(status)? {
                let verdict = verdict_to(&missed);
                sequence = verdict.sequence;
                if send(&answers, String::new(), Tell::Missed(verdict))
                    .await
                    .is_err()
                {
                    return Ok(None);
                }
            }
        }
        let domain = domain.clone();
        Ok(Some(Self {
            domain,
            asked,
            answers,
            loop_id,
            sequence,
            _hold: hold,
        }))
    }

    /// Answers messages until the loop ends, the client goes, or the server drains.
    async fn run(mut self) -> Result<(), Status> {
        let draining = self.domain.draining.clone();
        let mut look = interval(LOOK);
        loop {
            let message = tokio::select! {
                message = self.asked.message() => message.map_err(complete)?,
                () = self.answers.closed() => return Ok(()),
                () = draining.cancelled() => {
                    let resume = pb::ResumeLoop {
                        loop_id: self.loop_id.clone(),
                        last_sequence: self.sequence,
                    };
                    let _ = send(&self.answers, String::new(), Tell::Closing(resume)).await;
                    return Err(status(super::error::Fault::new(
                        super::error::Reason::Draining,
                        "the server is shutting down",
                    )));
                }
                _ = look.tick() => {
                    if self.tell_end().await { return Ok(()) }
                    continue;
                }
            };
            // Half-closed: the client has said all; its lease runs from now.
            let Some(message) = message else {
                return Ok(());
            };
            let tell = match self.answer(message.message).await {
                Ok(tell) => tell,
                Err(refused) => Tell::Refused(refusal(&refused)),
            };
            let last = matches!(tell, Tell::Ended(_));
            if send(&self.answers, message.message_id, tell).await.is_err() || last {
                return Ok(());
            }
            if self.tell_end().await {
                return Ok(());
            }
        }
    }

    /// Tells a client that its loop has ended; whether it has.
    async fn tell_end(&self) -> bool {
        match self.domain.loops.get(&self.loop_id).await {
            Ok(view) if view.terminated.is_none() => false,
            Ok(view) => {
                let _ = send(&self.answers, String::new(), Tell::Ended(loop_to(view))).await;
                true
            }
            Err(LoopError::NotFound(_)) => true,
            Err(_) => false,
        }
    }

    async fn answer(&mut self, message: Option<Ask>) -> Result<Tell, Status> {
        let hub = &self.domain.loops;
        let own = |loop_id: &mut String| {
            if loop_id.is_empty() {
                loop_id.clone_from(&self.loop_id);
            }
            match *loop_id == self.loop_id {
                true => Ok(()),
                false => Err(invalid("loop_id", "is not that of the stream")),
            }
        };
        match message {
            Some(Ask::Report(mut request)) => {
                own(&mut request.loop_id)?;
                let answered = report(hub, request).await?;
                self.saw(answered.verdict.as_ref());
                Ok(Tell::Report(answered))
            }
            Some(Ask::Attempt(mut request)) => {
                own(&mut request.loop_id)?;
                let answered = attempt(hub, request).await?;
                self.saw(answered.verdict.as_ref());
                Ok(Tell::Attempt(answered))
            }
            Some(Ask::Filter(mut request)) => {
                use pb::filter_tools_request::ProfileSource;
                if request.profile_source.is_none() {
                    let own = ProfileSource::LoopId(self.loop_id.clone());
                    request.profile_source = Some(own);
                }
                Ok(Tell::Filter(filter(hub, request).await?))
            }
            Some(Ask::Close(mut request)) => {
                own(&mut request.loop_id)?;
                Ok(Tell::Ended(close(hub, request).await?))
            }
            Some(Ask::Heartbeat(_)) => Ok(Tell::Heartbeat(pb::LoopHeartbeat {})),
            Some(Ask::Create(_) | Ask::Resume(_)) => {
                Err(invalid("message", "the stream has its loop already"))
            }
            None => Err(invalid("message", "must be one of the messages")),
        }
    }

    fn saw(&mut self, verdict: Option<&pb::Verdict>) {
        self.sequence = verdict.map_or(self.sequence, |verdict| verdict.sequence);
    }
}

fn refusal(refused: &Status) -> pb::RefusedMessage {
    use tonic_types::StatusExt;

    pb::RefusedMessage {
        code: refused.code() as i32,
        reason: refused
            .get_details_error_info()
            .map(|info| info.reason)
            .unwrap_or_default(),
        detail: refused.message().to_owned(),
    }
}

/// Fails where the client has gone.
async fn send(answers: &Answers, message_id: String, tell: Tell) -> Result<(), ()> {
    let message = pb::RunLoopResponse {
        message_id,
        message: Some(tell),
    };
    answers.send(Ok(message)).await.map_err(|_| ())
}
