//! All live loops: created, reported on, closed, abandoned, rebuilt.
//!
//! What is answered is in the journal first, in one append with what led to it, so a restart
//! finds either both or neither. A state changes only when its append succeeded. Calls on one
//! loop happen one after another; a caller that goes away in the middle does not leave half of
//! one behind. Loops, answers and streams are bounded.

mod events;
mod live;
mod rank;
mod rebuild;
mod sweep;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry as Slot;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::config::LoopConfig;
use super::fingerprint::Fingerprint;
use super::profile::{Filtered, Tool, ToolProfile, Trust, check_tools};
use super::report::StepReport;
use super::state::{LoopRecord, LoopState};
use crate::error::Violations;
use crate::journal::event::{Started, TerminationReason, Usage};
use crate::journal::{
    Append, EventType, Filter, Journal, JournalError, LoopEvent, NewEvent, RESERVED_PREFIX,
    TypeSet, check_loop_id, check_optional_id,
};

pub use live::{Answer, LoopView};

use events::Written;
use live::Live;

/// Shortest and longest lease.
pub const LEASE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(86_400));
/// Lease of a loop that asks for none.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(60);
/// Bytes of the input that the journal keeps.
const MAX_INPUT_BYTES: usize = 64 << 10;
/// Bytes of a report that is looked at on the runtime's threads: below a millisecond.
const INLINE_BYTES: usize = 64 << 10;
/// Times an append is tried again because somebody else appended to the loop.
const MAX_RETRIES: usize = 8;

/// What the hub takes.
#[derive(Debug, Clone)]
pub struct HubOptions {
    /// Loops that may be open at once.
    pub max_loops: usize,
    /// How often leases and timeouts are looked at.
    pub sweep_interval: Duration,
    /// How long an ended loop is remembered.
    pub linger: Duration,
    /// What is known of sources and tools.
    pub trust: Trust,
}

impl Default for HubOptions {
    fn default() -> Self {
        Self {
            max_loops: 4_096,
            sweep_interval: Duration::from_millis(500),
            linger: Duration::from_secs(300),
            trust: Trust::default(),
        }
    }
}

/// Why a call on a loop failed; nothing has changed then.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoopError {
    /// Values are out of their limits.
    #[error("{0}")]
    Invalid(Violations),
    /// There is no such loop, or it ended a while ago.
    #[error("no loop {0:?} is known")]
    NotFound(String),
    /// Another request created a loop of that id.
    #[error("loop {0:?} exists already")]
    Exists(String),
    /// The loop has ended.
    #[error("loop {loop_id:?} has ended: {}", .reason.as_str())]
    Ended {
        /// The loop.
        loop_id: String,
        /// How.
        reason: TerminationReason,
    },
    /// As many loops are open as may be.
    #[error("{0} loops are open already")]
    TooMany(usize),
    /// The request id was used with another request.
    #[error("request id {0:?} was used with another request")]
    RequestReused(String),
    /// It delegates deeper than it may.
    #[error("depth {depth} exceeds the limit of {limit}")]
    TooDeep {
        /// Agents above the loop.
        depth: u32,
        /// How many there may be.
        limit: u32,
    },
    /// The journal refused or failed.
    #[error(transparent)]
    Journal(JournalError),
    /// The call was cut off by a fault of the guard's own.
    #[error("the call was cut off")]
    CutOff,
}

impl From<Violations> for LoopError {
    fn from(violations: Violations) -> Self {
        LoopError::Invalid(violations)
    }
}

impl From<JournalError> for LoopError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Invalid(violations) => LoopError::Invalid(violations),
            error => LoopError::Journal(error),
        }
    }
}

/// A loop to create.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewLoop {
    /// Its id; empty for one that is made here.
    pub loop_id: String,
    /// Who creates it; may be empty.
    pub agent_id: String,
    /// Makes the call idempotent; empty for none.
    pub request_id: String,
    /// What it may use, and how it is watched.
    pub config: LoopConfig,
    /// Tools to filter.
    pub tools: Vec<Tool>,
    /// What it is asked to do.
    pub input: String,
    /// How long its client may be silent; none for [`DEFAULT_LEASE`].
    pub lease: Option<Duration>,
    /// Loop that delegated to it; may be empty.
    pub parent_loop_id: String,
    /// Agents above it.
    pub delegation_depth: u32,
}

impl NewLoop {
    /// Every limit the request breaks.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::default();
        if !self.loop_id.is_empty() {
            check_loop_id("loop_id", &self.loop_id, &mut violations);
        }
        if self.loop_id.starts_with(RESERVED_PREFIX) {
            violations.add(
                "loop_id",
                format!("must not begin with {RESERVED_PREFIX:?}"),
            );
        }
        check_optional_id("agent_id", &self.agent_id, &mut violations);
        check_optional_id("request_id", &self.request_id, &mut violations);
        self.config.check("config.", &mut violations);
        check_tools("tools", &self.tools, &mut violations);
        let lease = self.lease.unwrap_or(DEFAULT_LEASE);
        if lease < LEASE.0 || lease > LEASE.1 {
            let (value, most) = (lease.as_secs_f64(), LEASE.1.as_secs());
            violations.add("lease", format!("{value} s is not within 1 s to {most} s"));
        }
        check_optional_id("parent_loop_id", &self.parent_loop_id, &mut violations);
        violations
    }
}

/// A loop that was created, now or by an earlier call with the same request.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatedLoop {
    /// Where it stands.
    pub view: LoopView,
    /// Its tools.
    pub tools: Filtered,
}

/// What the journal's `Started` holds of a guarded loop, as its `config`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Charter {
    config: LoopConfig,
    lease_ms: u64,
    created_by: Fingerprint,
}

/// What is reported.
#[derive(Debug, Clone, PartialEq)]
pub enum Reported {
    /// What happened in a step, and its tokens.
    Step(StepReport, Usage),
    /// An event that the orchestrator observed.
    Event(Box<LoopEvent>),
    /// A failed attempt: tool or action, and the error.
    Failed {
        /// Tool or action; may be empty.
        action: String,
        /// The error.
        error: String,
    },
    /// A step was begun, or begun anew.
    Begin,
}

impl Reported {
    /// Bytes that have to be looked at.
    fn size(&self) -> usize {
        match self {
            Reported::Step(report, _) => size_of(report),
            Reported::Event(event) => size_of(&events::report_of("", event).0),
            Reported::Failed { action, error } => action.len() + error.len(),
            Reported::Begin => 0,
        }
    }
}

/// All live loops. Cheap to clone.
#[derive(Clone)]
pub struct LoopHub {
    inner: Arc<Inner>,
}

struct Inner {
    journal: Journal,
    options: HubOptions,
    loops: DashMap<String, Arc<Mutex<Live>>>,
    made: AtomicU64,
}

impl LoopHub {
    /// A hub over a journal; rebuilds the loops that are open in it and begins to look after
    /// leases. Its task ends with the last clone.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    pub async fn open(journal: Journal, options: HubOptions) -> Result<Self, LoopError> {
        let inner = Inner {
            journal,
            options,
            loops: DashMap::new(),
            made: AtomicU64::new(0),
        };
        let hub = Self {
            inner: Arc::new(inner),
        };
        hub.rebuild().await?;
        sweep::spawn(&hub.inner);
        Ok(hub)
    }

    /// Loops that are remembered, open or ended.
    pub fn len(&self) -> usize {
        self.inner.loops.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.inner.loops.is_empty()
    }

    /// Filters tools by a profile; a prompt ranks them where the profile caps them.
    ///
    /// # Errors
    ///
    /// Every value out of its limits.
    pub fn filter(
        &self,
        profile: &ToolProfile,
        tools: &[Tool],
        prompt: &str,
    ) -> Result<Filtered, LoopError> {
        let capped = profile
            .max_tools
            .is_some_and(|max| (max as usize) < tools.len());
        let trust = &self.inner.options.trust;
        if !capped || prompt.trim().is_empty() {
            return Ok(profile.filter(tools, trust, None)?);
        }
        let mut violations = Violations::default();
        check_tools("tools", tools, &mut violations);
        violations.into_result()?;
        let ranking = rank::Ranking::new(prompt, tools);
        Ok(profile.filter(tools, trust, Some(&|tool| ranking.score(tool)))?)
    }

    /// Who vouches for each of the tools as they are now.
    pub fn trust(&self) -> &Trust {
        &self.inner.options.trust
    }

    /// Filters tools by the profile of a loop.
    ///
    /// # Errors
    ///
    /// As [`LoopHub::filter`], and no such loop.
    pub async fn filter_for(
        &self,
        loop_id: &str,
        tools: &[Tool],
        prompt: &str,
    ) -> Result<Filtered, LoopError> {
        let profile = {
            let mut live = self.open_loop(loop_id).await?;
            live.renew();
            live.state.config().tool_profile.clone().unwrap_or_default()
        };
        self.filter(&profile, tools, prompt)
    }

    /// Configuration of an open loop, whose lease begins anew.
    ///
    /// # Errors
    ///
    /// No such loop, or it has ended.
    pub async fn config_of(&self, loop_id: &str) -> Result<LoopConfig, LoopError> {
        let mut live = self.open_loop(loop_id).await?;
        live.renew();
        Ok(live.state.config().clone())
    }

    /// Creates a loop.
    ///
    /// # Errors
    ///
    /// Values out of their limits, too many loops, too deep a delegation, an id that is
    /// taken, and what the journal says.
    pub async fn create(&self, new: NewLoop) -> Result<CreatedLoop, LoopError> {
        let hub = self.clone();
        undropped(async move { hub.create_now(new).await }).await
    }

    async fn create_now(&self, new: NewLoop) -> Result<CreatedLoop, LoopError> {
        let lease = new.lease.unwrap_or(DEFAULT_LEASE);
        // Compiling patterns takes milliseconds each.
        let patterns = new.config.pre_hydration.as_ref();
        let size = match patterns.is_some_and(|config| !config.custom_patterns.is_empty()) {
            true => usize::MAX,
            false => 0,
        };
        let check = move || (new.check(), new);
        let (violations, new) = heavy(size, check).await?;
        violations.into_result()?;
        let limit = new.config.max_delegation_depth;
        if new.delegation_depth > limit {
            return Err(LoopError::TooDeep {
                depth: new.delegation_depth,
                limit,
            });
        }
        let profile = new.config.tool_profile.clone().unwrap_or_default();
        let tools = self.filter(&profile, &new.tools, &new.input)?;
        let created_by = digest_of(&new);
        let loop_id = match (new.loop_id.as_str(), new.request_id.as_str()) {
            ("", "") => self.make_id(),
            ("", request_id) => {
                let id = Fingerprint::of_call(&new.agent_id, request_id);
                format!("loop-{id}")
            }
            (given, _) => given.to_owned(),
        };

        let mut live = self.enter(&loop_id, &new, created_by, lease).await?;
        if live.next_sequence > 1 {
            // It was there before; only the same request may have it.
            let same = live.created_by == created_by && !new.request_id.is_empty();
            if !same {
                return Err(LoopError::Exists(loop_id));
            }
            live.renew();
            return Ok(CreatedLoop {
                view: live.view(),
                tools,
            });
        }
        match self.begin(&mut live, &new, lease, &tools).await {
            Ok(()) => Ok(CreatedLoop {
                view: live.view(),
                tools,
            }),
            Err(error) => {
                drop(live);
                self.inner.loops.remove(&loop_id);
                Err(error)
            }
        }
    }

    /// The loop of that id, locked; a new one where there is none. A creation that failed
    /// takes its loop away while others may wait for it, so what was waited for is looked up
    /// again.
    async fn enter(
        &self,
        loop_id: &str,
        new: &NewLoop,
        created_by: Fingerprint,
        lease: Duration,
    ) -> Result<OwnedMutexGuard<Live>, LoopError> {
        loop {
            let full = self.inner.loops.len() >= self.inner.options.max_loops;
            let live = match self.inner.loops.entry(loop_id.to_owned()) {
                Slot::Occupied(slot) => slot.get().clone(),
                Slot::Vacant(_) if full => {
                    return Err(LoopError::TooMany(self.inner.options.max_loops));
                }
                Slot::Vacant(slot) => {
                    let config = new.config.clone();
                    let live = Live::new(loop_id, &new.agent_id, created_by, config, lease);
                    slot.insert(Arc::new(Mutex::new(live))).clone()
                }
            };
            let locked = live.clone().lock_owned().await;
            let current = self
                .inner
                .loops
                .get(loop_id)
                .map(|known| Arc::ptr_eq(&known, &live));
            if current == Some(true) {
                return Ok(locked);
            }
        }
    }

    async fn begin(
        &self,
        live: &mut Live,
        new: &NewLoop,
        lease: Duration,
        tools: &Filtered,
    ) -> Result<(), LoopError> {
        let charter = Charter {
            config: new.config.clone(),
            lease_ms: u64::try_from(lease.as_millis()).unwrap_or(u64::MAX),
            created_by: live.created_by,
        };
        let mut input = new.input.clone();
        input.truncate(input.floor_char_boundary(MAX_INPUT_BYTES));
        let started = LoopEvent::Started(Started {
            input,
            tools: tools
                .kept
                .iter()
                .map(|at| new.tools[*at].name.clone())
                .collect(),
            config: serde_json::to_string(&charter).unwrap_or_default(),
            parent_loop_id: new.parent_loop_id.clone(),
            delegation_depth: new.delegation_depth,
        });
        let append = self.append(live, 1, vec![NewEvent::from(started)]);
        match append.await {
            Ok(()) => Ok(()),
            Err(JournalError::SequenceMismatch { loop_id, .. }) => Err(LoopError::Exists(loop_id)),
            Err(JournalError::LoopEnded { loop_id }) => Err(LoopError::Exists(loop_id)),
            Err(error) => Err(error.into()),
        }
    }

    /// Reports on a step; answers once the report and what the guard says are in the journal.
    ///
    /// # Errors
    ///
    /// Values out of their limits, no such loop, a loop that has ended, and what the journal
    /// says. Nothing has changed then.
    pub async fn report(
        &self,
        loop_id: &str,
        request_id: &str,
        step_id: &str,
        reported: Reported,
    ) -> Result<Answer, LoopError> {
        let (hub, loop_id) = (self.clone(), loop_id.to_owned());
        let (request_id, step_id) = (request_id.to_owned(), step_id.to_owned());
        undropped(async move {
            hub.report_now(&loop_id, &request_id, &step_id, reported)
                .await
        })
        .await
    }

    async fn report_now(
        &self,
        loop_id: &str,
        request_id: &str,
        step_id: &str,
        reported: Reported,
    ) -> Result<Answer, LoopError> {
        check_report(request_id, step_id, &reported)?;
        let (digest, reported) = match request_id {
            "" => (None, reported),
            _ => {
                let (step_id, size) = (step_id.to_owned(), reported.size());
                let digest = move || (Some(digest_of(&(step_id, &reported))), reported);
                heavy(size, digest).await?
            }
        };
        let mut live = self.known_loop(loop_id).await?;
        live.renew();
        if let Some(digest) = digest
            && let Some((known, answer)) = live.answered(request_id)
        {
            return match known == digest {
                true => Ok(answer),
                false => Err(LoopError::RequestReused(request_id.to_owned())),
            };
        }
        let mut live = still_open(live)?;
        let (record, usage, event) = read(&live.state, step_id, reported).await?;
        let event = event.map(|event| events::cut(event, &record));
        let request = digest.map(|digest| (request_id.to_owned(), digest));
        for _ in 0..MAX_RETRIES {
            let at = live.next_sequence;
            let elapsed = live.elapsed();
            let mut state = live.state.clone();
            let verdict = state.apply(at, elapsed, &record);
            let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
            let record = record.clone();
            let request = request.clone();
            let written = Written {
                at,
                elapsed_us,
                usage,
                record,
                verdict,
                request,
            };
            let mut batch: Vec<NewEvent> = event.clone().into_iter().collect();
            batch.extend(written.to_event().map(NewEvent::from));
            batch.extend(events::said(&written.verdict, step_id).map(NewEvent::from));
            let terminated = events::ends_at_once(&written.verdict).map(|reason| {
                let mut terminated = live.ending(reason, &written.verdict.text);
                // With what this report used.
                terminated.iterations = state.used().iterations;
                terminated.total_usage.input_tokens += usage.input_tokens;
                terminated.total_usage.output_tokens += usage.output_tokens;
                terminated
            });
            batch.extend(
                terminated
                    .clone()
                    .map(|end| NewEvent::from(LoopEvent::Terminated(end))),
            );
            match self.append(&mut live, at, batch).await {
                Ok(()) => {
                    live.commit(&written, state);
                    live.terminated = terminated;
                    return Ok(Answer {
                        sequence: at,
                        verdict: written.verdict,
                    });
                }
                // Somebody appended to the loop by the journal itself.
                Err(JournalError::SequenceMismatch { actual, .. }) => live.next_sequence = actual,
                Err(JournalError::LoopEnded { .. }) => {
                    self.learn_end(&mut live).await?;
                    return Err(ended(&live));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(LoopError::Journal(JournalError::Overloaded))
    }

    /// Where a loop stands. Does not renew its lease.
    ///
    /// # Errors
    ///
    /// No such loop.
    pub async fn get(&self, loop_id: &str) -> Result<LoopView, LoopError> {
        Ok(self.known_loop(loop_id).await?.view())
    }

    /// Ends a loop; one that has ended stays as it is. Without a reason it is what the last
    /// stop said, else completed.
    ///
    /// # Errors
    ///
    /// No such loop, and what the journal says.
    pub async fn close(
        &self,
        loop_id: &str,
        reason: Option<TerminationReason>,
        detail: &str,
    ) -> Result<LoopView, LoopError> {
        let (hub, loop_id, detail) = (self.clone(), loop_id.to_owned(), detail.to_owned());
        undropped(async move {
            let mut live = hub.known_loop(&loop_id).await?;
            let reason = reason
                .or(live.stopped.map(events::reason_of))
                .unwrap_or(TerminationReason::Completed);
            hub.end(&mut live, reason, &detail).await?;
            Ok(live.view())
        })
        .await
    }

    /// Ends a loop unless it has ended.
    async fn end(
        &self,
        live: &mut Live,
        reason: TerminationReason,
        detail: &str,
    ) -> Result<(), LoopError> {
        for _ in 0..MAX_RETRIES {
            if live.terminated.is_some() {
                return Ok(());
            }
            let terminated = live.ending(reason, detail);
            let event = NewEvent::from(LoopEvent::Terminated(terminated.clone()));
            let expected = live.next_sequence;
            match self.append(live, expected, vec![event]).await {
                Ok(()) => live.terminated = Some(terminated),
                Err(JournalError::SequenceMismatch { actual, .. }) => live.next_sequence = actual,
                Err(JournalError::LoopEnded { .. }) => self.learn_end(live).await?,
                Err(error) => return Err(error.into()),
            }
        }
        match live.terminated {
            Some(_) => Ok(()),
            None => Err(LoopError::Journal(JournalError::Overloaded)),
        }
    }

    /// Somebody ended the loop by the journal itself: takes over how.
    async fn learn_end(&self, live: &mut Live) -> Result<(), LoopError> {
        let types = TypeSet::from_iter([EventType::Terminated]);
        let filter = Filter {
            types,
            ..Filter::of_loop(&live.loop_id)
        };
        for entry in self.inner.journal.newest(&filter, 1).await? {
            live.end_by(&entry.event);
        }
        if live.terminated.is_none() {
            live.terminated = Some(live.ending(TerminationReason::Error, "its end is not kept"));
        }
        Ok(())
    }

    async fn append(
        &self,
        live: &mut Live,
        expected: u64,
        events: Vec<NewEvent>,
    ) -> Result<(), JournalError> {
        let append = Append {
            loop_id: live.loop_id.clone(),
            agent_id: live.agent_id.clone(),
            request_id: String::new(),
            expected_sequence: Some(expected),
            events,
        };
        let appended = self.inner.journal.append(append).await?;
        live.next_sequence = appended.last_sequence + 1;
        Ok(())
    }

    /// Counts a stream on a loop until the guard is dropped; the lease does not run meanwhile.
    ///
    /// # Errors
    ///
    /// No such loop.
    pub async fn hold(&self, loop_id: &str) -> Result<Hold, LoopError> {
        let live = self.find(loop_id)?;
        live.lock().await.streams += 1;
        Ok(Hold { live })
    }

    /// Verdicts that were answered after a sequence, oldest first, as far as the journal keeps
    /// them; at most 1,000.
    ///
    /// # Errors
    ///
    /// What the journal says.
    pub async fn verdicts_after(
        &self,
        loop_id: &str,
        sequence: u64,
    ) -> Result<Vec<Answer>, LoopError> {
        const MOST: usize = 1_000;
        let types = TypeSet::from_iter([EventType::Custom]);
        let filter = Filter {
            types,
            ..Filter::of_loop(loop_id)
        };
        let entries = self.inner.journal.newest(&filter, MOST).await?;
        Ok(entries
            .iter()
            .filter_map(|entry| Written::from_event(&entry.event))
            .filter(|written| written.at > sequence)
            .map(|written| Answer {
                sequence: written.at,
                verdict: written.verdict,
            })
            .collect())
    }

    fn find(&self, loop_id: &str) -> Result<Arc<Mutex<Live>>, LoopError> {
        let found = self
            .inner
            .loops
            .get(loop_id)
            .map(|live| live.value().clone());
        found.ok_or_else(|| LoopError::NotFound(loop_id.to_owned()))
    }

    /// A loop that is known, open or ended.
    async fn known_loop(&self, loop_id: &str) -> Result<OwnedMutexGuard<Live>, LoopError> {
        let live = self.find(loop_id)?.lock_owned().await;
        // Its creation failed meanwhile.
        match live.next_sequence {
            1 => Err(LoopError::NotFound(loop_id.to_owned())),
            _ => Ok(live),
        }
    }

    async fn open_loop(&self, loop_id: &str) -> Result<OwnedMutexGuard<Live>, LoopError> {
        still_open(self.known_loop(loop_id).await?)
    }

    /// An id that no other loop has: the time, how many were made, and a secret of neither.
    fn make_id(&self) -> String {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let made = self.inner.made.fetch_add(1, Ordering::Relaxed);
        let id = Fingerprint::of_call(
            &format!("{}.{}", now.as_nanos(), std::process::id()),
            &made.to_string(),
        );
        format!("loop-{id}")
    }
}

/// Keeps the lease of a loop while a stream is open on it.
pub struct Hold {
    live: Arc<Mutex<Live>>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let live = self.live.clone();
        let release = |live: &mut Live| {
            live.streams = live.streams.saturating_sub(1);
            live.renew();
        };
        if let Ok(mut live) = self.live.try_lock() {
            release(&mut live);
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { release(&mut *live.lock().await) });
        }
    }
}

fn still_open(live: OwnedMutexGuard<Live>) -> Result<OwnedMutexGuard<Live>, LoopError> {
    if live.terminated.is_some() {
        Err(ended(&live))
    } else {
        Ok(live)
    }
}

fn ended(live: &Live) -> LoopError {
    let reason = live
        .terminated
        .as_ref()
        .map_or(TerminationReason::Error, |end| end.reason);
    LoopError::Ended {
        loop_id: live.loop_id.clone(),
        reason,
    }
}

/// Runs a call to its end even if its caller goes away.
async fn undropped<T: Send + 'static>(
    call: impl Future<Output = Result<T, LoopError>> + Send + 'static,
) -> Result<T, LoopError> {
    tokio::spawn(call).await.unwrap_or(Err(LoopError::CutOff))
}

/// Makes a record of what was reported; what is large leaves the runtime's threads.
async fn read(
    state: &LoopState,
    step_id: &str,
    reported: Reported,
) -> Result<(LoopRecord, Usage, Option<LoopEvent>), LoopError> {
    match reported {
        Reported::Begin => {
            let step_id = step_id.to_owned();
            Ok((LoopRecord::Begin { step_id }, Usage::default(), None))
        }
        Reported::Failed { action, error } => {
            let size = action.len() + error.len();
            let (state, step_id) = (state.clone(), step_id.to_owned());
            let record = heavy(size, move || {
                state.record_attempt(&step_id, &action, &error)
            });
            Ok((record.await??, Usage::default(), None))
        }
        Reported::Step(mut report, usage) => {
            report.step_id = step_id.to_owned();
            report.check().into_result()?;
            report.tokens = usage.total();
            let size = size_of(&report);
            let record = heavy(size, move || LoopRecord::Step(report.record())).await?;
            Ok((record, usage, None))
        }
        Reported::Event(event) => {
            let (report, usage) = events::report_of(step_id, &event);
            report.check().into_result()?;
            let size = size_of(&report);
            let record = heavy(size, move || LoopRecord::Step(report.record())).await?;
            Ok((record, usage, Some(*event)))
        }
    }
}

fn size_of(report: &StepReport) -> usize {
    let calls = report
        .calls
        .iter()
        .map(|call| call.arguments.len() + call.output.len());
    let asked = report.asked.iter().map(|asked| asked.arguments.len());
    report.message.len() + calls.sum::<usize>() + asked.sum::<usize>()
}

async fn heavy<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LoopError> {
    if size <= INLINE_BYTES {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| LoopError::CutOff)
}

fn check_report(request_id: &str, step_id: &str, reported: &Reported) -> Result<(), LoopError> {
    let mut violations = Violations::default();
    check_optional_id("request_id", request_id, &mut violations);
    super::report::check_step_id(step_id, &mut violations);
    if let Reported::Event(event) = reported
        && events::is_reserved(event)
    {
        let kind = event.event_type();
        violations.add("event", format!("{kind} is written by the guard itself"));
    }
    violations.into_result().map_err(LoopError::Invalid)
}

/// Digest of a request: equal requests have equal ones. Nothing is masked.
fn digest_of(request: &impl std::fmt::Debug) -> Fingerprint {
    Fingerprint::exact(&format!("{request:?}"))
}

#[cfg(test)]
mod tests;
