//! `LoopService.ExtractReferences` and `HydrateContext`.

use std::collections::{BTreeMap, HashMap, HashSet};

use tokio::sync::{mpsc, oneshot};
use tonic::{Status, Streaming};

use super::Domain;
use super::convert::{
    custom_patterns_from, duration_to, hydrate_reference_to, hydrated_to, hydration_from, large,
    profile_from, tool_from,
};
use super::error::{complete, invalid, status};
use super::pb;
use super::pb::hydrate_context_request::Message as Ask;
use super::pb::hydrate_context_response::Message as Tell;
use super::pb::tool_result::Outcome as PbOutcome;
use crate::error::Violations;
use crate::hydrate::job::{MAX_NAMED, is_builtin};
use crate::hydrate::{Hydrated, Job, ToolAnswer, ToolCall};
use crate::journal::LoopEvent;
use crate::journal::event::PreHydrationComplete;
use crate::session::config::PreHydration;
use crate::session::hub::{LoopError, LoopHub, Reported};
use crate::session::profile::Hints;
use crate::session::{Tool, ToolProfile};

/// References that wait to be sent to the client.
const CALLS_WAITING: usize = 16;
/// Source of the built-in resolvers.
const OWN_SOURCE: &str = "signalbox";

pub(super) type Answers = mpsc::Sender<Result<pb::HydrateContextResponse, Status>>;

pub(super) async fn extract(
    domain: &Domain,
    request: pb::ExtractReferencesRequest,
) -> Result<pb::ExtractReferencesResponse, Status> {
    let job = Job {
        text: request.text,
        config: PreHydration {
            custom_patterns: custom_patterns_from(request.custom_patterns),
            ..PreHydration::default()
        },
        fenced_code: request.include_fenced_code,
        ..Job::default()
    };
    let found = domain.hydrator.extract(&job, "").await.map_err(status)?;
    Ok(pb::ExtractReferencesResponse {
        reference_count: super::convert::count(found.len()),
        references: found
            .iter()
            .take(MAX_NAMED)
            .map(hydrate_reference_to)
            .collect(),
    })
}

/// One stream of `HydrateContext`, from its first message to its last.
pub(super) async fn run(
    domain: &Domain,
    mut asked: Streaming<pb::HydrateContextRequest>,
    answers: &Answers,
) -> Result<(), Status> {
    let Some(first) = asked.message().await.map_err(complete)? else {
        return Ok(());
    };
    let Some(Ask::Start(start)) = first.message else {
        return Err(invalid("message", "the first must be start"));
    };
    let loop_id = start.loop_id.clone();
    let _hold = match loop_id.as_str() {
        "" => None,
        id => Some(domain.loops.hold(id).await.map_err(status)?),
    };
    let Some(job) = job_from(&domain.loops, start).await? else {
        // The loop has no pre-hydration: nothing is looked for, and nothing is written.
        let nothing = hydrated_to(Hydrated::default(), 0);
        let _ = send(answers, Tell::Hydrated(nothing)).await;
        return Ok(());
    };

    let (calls, mut waiting) = mpsc::channel(CALLS_WAITING);
    let hydration = domain.hydrator.hydrate(job, "config.", calls);
    tokio::pin!(hydration);
    let mut desk = Desk::default();
    let mut open = true;
    // One message that waits for the client to read; time goes on for the others meanwhile.
    let mut unsent: Option<Tell> = None;
    let hydrated = loop {
        tokio::select! {
            hydrated = &mut hydration => break hydrated.map_err(status)?,
            () = answers.closed() => return Ok(()),
            Some(call) = waiting.recv(), if unsent.is_none() => unsent = desk.take(call, open),
            room = answers.reserve(), if unsent.is_some() => match (room, unsent.take()) {
                (Ok(room), Some(message)) => room.send(Ok(pb::HydrateContextResponse {
                    message: Some(message),
                })),
                _ => return Ok(()),
            },
            message = asked.message(), if open => match message.map_err(complete)? {
                Some(message) => desk.answer(message.message)?,
                // Half-closed: nobody answers any more.
                None => {
                    open = false;
                    desk.waiting.clear();
                }
            },
        }
    };
    let sequence = match loop_id.as_str() {
        "" => 0,
        id => journal(&domain.loops, id, &hydrated)
            .await
            .map_err(status)?,
    };
    // A client that has gone needs no answer.
    let _ = send(answers, Tell::Hydrated(hydrated_to(hydrated, sequence))).await;
    Ok(())
}

/// Reads what is asked for; none where the loop does without.
async fn job_from(hub: &LoopHub, start: pb::StartHydration) -> Result<Option<Job>, Status> {
    let mut violations = Violations::default();
    let given = start
        .config
        .map(|config| hydration_from(config, "config.", &mut violations));
    let profile = start
        .tool_profile
        .map(|profile| profile_from(profile, "tool_profile.", &mut violations));
    if profile.is_some() && !start.loop_id.is_empty() {
        violations.add("tool_profile", "the loop has its own");
    }
    violations.into_result().map_err(status)?;

    let (config, profile, tool_timeout) = match start.loop_id.as_str() {
        "" => (given.or(Some(PreHydration::default())), profile, None),
        id => {
            let of_loop = hub.config_of(id).await.map_err(status)?;
            let config = given.or(of_loop.pre_hydration);
            (config, of_loop.tool_profile, Some(of_loop.tool_timeout))
        }
    };
    let Some(config) = config else {
        return Ok(None);
    };
    let tools: Vec<Tool> = start.tools.into_iter().map(tool_from).collect();
    let resolvers: HashSet<&String> = config.resolution_tools.values().collect();
    let denied = denied(
        hub,
        &profile.unwrap_or_default(),
        tools,
        &resolvers,
        &start.text,
    )
    .map_err(status)?;
    Ok(Some(Job {
        text: start.text,
        config,
        fenced_code: start.include_fenced_code,
        tool_timeout,
        denied,
    }))
}

/// The resolvers that the profile drops, with the reason. The built-in ones change nothing and
/// are vouched for by the server that holds them, and they take no place of the model's tools.
fn denied(
    hub: &LoopHub,
    profile: &ToolProfile,
    mut tools: Vec<Tool>,
    resolvers: &HashSet<&String>,
    prompt: &str,
) -> Result<BTreeMap<String, String>, LoopError> {
    let unknown = |name: &str| Tool {
        name: name.to_owned(),
        ..Tool::default()
    };
    for name in resolvers.iter().filter(|name| !is_builtin(name)) {
        if !tools.iter().any(|tool| tool.name == **name) {
            tools.push(unknown(name));
        }
    }
    let own: Vec<Tool> = resolvers
        .iter()
        .filter(|name| is_builtin(name))
        .map(|name| Tool {
            source: OWN_SOURCE.into(),
            hints: Hints {
                read_only: Some(true),
                ..Hints::default()
            },
            ..unknown(name)
        })
        .collect();
    let for_own = ToolProfile {
        max_tools: profile.max_tools.filter(|max| *max == 0),
        require_verified: false,
        trust_annotations: true,
        ..profile.clone()
    };
    let mut denied = BTreeMap::new();
    for (profile, tools) in [(profile, &tools), (&for_own, &own)] {
        let filtered = hub.filter(profile, tools, prompt)?;
        let kept: HashSet<&String> = filtered.kept.iter().map(|at| &tools[*at].name).collect();
        for dropped in &filtered.dropped {
            let name = &tools[dropped.index].name;
            // Of two tools of one name it is enough that one passes.
            if resolvers.contains(name) && !kept.contains(name) {
                let why = format!("the tool profile drops {name:?}: {}", dropped.reason);
                denied.insert(name.clone(), why);
            }
        }
    }
    Ok(denied)
}

/// Calls that were sent to the client.
#[derive(Default)]
struct Desk {
    waiting: HashMap<String, oneshot::Sender<ToolAnswer>>,
    sent: usize,
}

impl Desk {
    /// The message for a call; none where nobody would answer it.
    fn take(&mut self, call: ToolCall, open: bool) -> Option<Tell> {
        if !open {
            return None;
        }
        let call_id = format!("ref-{}", call.number);
        self.waiting.insert(call_id.clone(), call.reply);
        self.sent = self.sent.max(call.number + 1);
        Some(Tell::Resolve(pb::ResolveReference {
            call_id,
            tool: call.tool,
            reference: Some(hydrate_reference_to(&call.reference)),
            timeout: duration_to(call.timeout),
        }))
    }

    /// Hands an answer to who waits for it; one that comes too late is dropped.
    fn answer(&mut self, message: Option<Ask>) -> Result<(), Status> {
        let Some(Ask::Result(result)) = message else {
            return Err(invalid("message", "must be a result"));
        };
        let answer = match result.outcome {
            Some(PbOutcome::Content(content)) => ToolAnswer::Content(content),
            Some(PbOutcome::Error(why)) => ToolAnswer::Failed(why),
            Some(PbOutcome::Denied(why)) => ToolAnswer::Denied(why),
            None => {
                let text = "must be content, error or denied";
                return Err(invalid("result.outcome", text));
            }
        };
        match self.waiting.remove(&result.call_id) {
            Some(reply) => {
                let _ = reply.send(answer);
                Ok(())
            }
            None => {
                let number = result.call_id.strip_prefix("ref-");
                let number = number.and_then(|number| number.parse::<usize>().ok());
                match number.is_some_and(|number| number < self.sent) {
                    true => Err(invalid("result.call_id", "was answered already")),
                    false => Err(invalid("result.call_id", "names no call of this stream")),
                }
            }
        }
    }
}

/// Writes down that the hydration is done; gives the sequence.
async fn journal(hub: &LoopHub, loop_id: &str, hydrated: &Hydrated) -> Result<i64, LoopError> {
    let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let event = LoopEvent::PreHydrationComplete(PreHydrationComplete {
        reference_count: short(hydrated.found),
        resolved_count: short(hydrated.resolved()),
        failed_count: short(hydrated.failed()),
        token_count: hydrated.tokens as u64,
        duration: hydrated.took,
    });
    let reported = Reported::Event(Box::new(event));
    let answer = hub.report(loop_id, "", "", reported).await?;
    Ok(large(answer.sequence))
}

async fn send(answers: &Answers, message: Tell) -> Result<(), ()> {
    let message = pb::HydrateContextResponse {
        message: Some(message),
    };
    answers.send(Ok(message)).await.map_err(|_| ())
}
