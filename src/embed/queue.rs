//! The line in front of the encoder.
//!
//! Two lanes of bounded length. A worker takes interactive texts first, in the order they
//! came, and bulk texts only while none waits. An interactive call that finds too little room
//! is refused at once; a bulk call waits for room, text by text. Each lane has the whole limit
//! for itself, so a running import never makes a prompt overloaded.
//!
//! A waiting text belongs to its caller: when the caller's future is dropped, the reply
//! channel closes, and [`Queue::next`] throws the text away instead of handing it out.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::types::{EmbedError, Embedded, TextRole};

/// What becomes of one text.
pub(super) type Outcome = Result<Embedded, EmbedError>;

/// One text that waits.
pub(super) struct Job {
    pub(super) role: TextRole,
    pub(super) text: String,
    reply: oneshot::Sender<Outcome>,
    // Its place in the lane; given back when the job leaves the queue.
    slot: OwnedSemaphorePermit,
}

/// A text that a worker took.
pub(super) struct Taken {
    pub(super) role: TextRole,
    pub(super) text: String,
    reply: oneshot::Sender<Outcome>,
}

impl Taken {
    /// Hands the result to the caller, if it is still there.
    pub(super) fn reply(self, outcome: Outcome) {
        // The caller may have gone while the text was encoded: nobody to tell.
        let _ = self.reply.send(outcome);
    }
}

#[derive(Default)]
struct Lanes {
    interactive: VecDeque<Job>,
    bulk: VecDeque<Job>,
    closed: bool,
}

/// The bounded queue; shared by callers and workers.
pub(super) struct Queue {
    lanes: Mutex<Lanes>,
    arrived: Condvar,
    interactive_slots: Arc<Semaphore>,
    bulk_slots: Arc<Semaphore>,
    limit: usize,
}

impl Queue {
    /// A queue in which `limit` texts of each priority may wait (at least 1).
    pub(super) fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            lanes: Mutex::default(),
            arrived: Condvar::new(),
            interactive_slots: Arc::new(Semaphore::new(limit)),
            bulk_slots: Arc::new(Semaphore::new(limit)),
            limit,
        }
    }

    /// Queues all texts of an interactive call, or none of them.
    ///
    /// # Errors
    /// `Overloaded` where fewer than `texts.len()` places are free, `Closed` after
    /// [`Queue::close`].
    pub(super) fn push_interactive(
        &self,
        role: TextRole,
        texts: Vec<String>,
    ) -> Result<Vec<oneshot::Receiver<Outcome>>, EmbedError> {
        let mut lanes = self.lock();
        if lanes.closed {
            return Err(EmbedError::Closed);
        }
        if self.interactive_slots.available_permits() < texts.len() {
            // Texts whose callers gave up still hold places until a worker meets them; they
            // must not be a reason to refuse a caller who is here.
            lanes.interactive.retain(|job| !job.reply.is_closed());
        }
        let mut receivers = Vec::with_capacity(texts.len());
        let overloaded = || EmbedError::Overloaded {
            queued: self.limit - self.interactive_slots.available_permits().min(self.limit),
            limit: self.limit,
        };
        let wanted = u32::try_from(texts.len()).map_err(|_| overloaded())?;
        let mut slots = Arc::clone(&self.interactive_slots)
            .try_acquire_many_owned(wanted)
            .map_err(|_| overloaded())?;
        for text in texts {
            // One place was taken for each text, so there is always one to split off.
            let Some(slot) = slots.split(1) else {
                return Err(overloaded());
            };
            let (reply, receiver) = oneshot::channel();
            lanes.interactive.push_back(Job {
                role,
                text,
                reply,
                slot,
            });
            receivers.push(receiver);
        }
        drop(lanes);
        self.arrived.notify_all();
        Ok(receivers)
    }

    /// Queues one bulk text as soon as there is room; waiting callers are served in turn.
    ///
    /// # Errors
    /// `Closed` after [`Queue::close`], also for those who wait at that moment.
    pub(super) async fn push_bulk(
        &self,
        role: TextRole,
        text: String,
    ) -> Result<oneshot::Receiver<Outcome>, EmbedError> {
        let slot = Arc::clone(&self.bulk_slots)
            .acquire_owned()
            .await
            .map_err(|_| EmbedError::Closed)?;
        let (reply, receiver) = oneshot::channel();
        let mut lanes = self.lock();
        if lanes.closed {
            return Err(EmbedError::Closed);
        }
        lanes.bulk.push_back(Job {
            role,
            text,
            reply,
            slot,
        });
        drop(lanes);
        self.arrived.notify_one();
        Ok(receiver)
    }

    /// The next text that somebody waits for; blocks until there is one. `None` once closed.
    pub(super) fn next(&self) -> Option<Taken> {
        let mut lanes = self.lock();
        loop {
            if lanes.closed {
                return None;
            }
            let job = lanes
                .interactive
                .pop_front()
                .or_else(|| lanes.bulk.pop_front());
            match job {
                Some(Job { reply, .. }) if reply.is_closed() => {}
                Some(Job {
                    role,
                    text,
                    reply,
                    slot,
                }) => {
                    drop(slot);
                    return Some(Taken { role, text, reply });
                }
                None => {
                    lanes = self
                        .arrived
                        .wait(lanes)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Ends the workers and refuses what waits: their callers get `Closed`.
    pub(super) fn close(&self) {
        let mut lanes = self.lock();
        lanes.closed = true;
        // Dropping a reply channel is what tells its caller.
        lanes.interactive.clear();
        lanes.bulk.clear();
        drop(lanes);
        self.interactive_slots.close();
        self.bulk_slots.close();
        self.arrived.notify_all();
    }

    // Nothing panics while the lock is held, and if it did the lanes would still be whole.
    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
