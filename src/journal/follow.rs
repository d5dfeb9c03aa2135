//! Following the journal: first what is stored, then what comes, without gap or double.
//!
//! The stored part is read at the reader's own pace. Only at its end does the reader join the
//! live tail, and reads once more what came in between; from then on it has to keep up.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::event::Entry;
use super::reader::{Filter, Start};
use super::tail::Published;
use super::token::{Token, scope_of};
use super::{Journal, JournalError};

/// Entries of one page, at most.
const PAGE: usize = 1_024;

/// Where following begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// With the first entry that is kept.
    Earliest,
    /// With the next entry to come.
    Now,
    /// Right behind a place. Fails where something that follows it is not kept any more.
    After(Token),
}

/// What a follower is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Followed {
    /// Entries, in order.
    Entries(Vec<Arc<Entry>>),
    /// Everything that was stored has been told; what follows is live. Told again where the
    /// follower had to go back to the store.
    CaughtUp,
    /// The follower did not keep up. The last word; the token resumes.
    Behind,
}

/// A running follow. Dropping it ends it.
pub struct Follow {
    journal: Journal,
    filter: Filter,
    start: Start,
    /// Everything up to here has been told.
    through: u64,
    horizon: u64,
    scope: Option<u64>,
    live: Option<Live>,
    /// Whether [`Followed::CaughtUp`] is to be told next.
    caught_up: bool,
}

struct Live {
    tail: broadcast::Receiver<Published>,
    /// The tail tells of what comes behind this position.
    from: u64,
    /// Whether the stored part is through.
    joined: bool,
    /// Whether the tail has told of anything yet.
    fresh: bool,
}

impl Journal {
    /// Follows the entries that a filter lets through.
    ///
    /// # Errors
    ///
    /// [`JournalError::ForeignToken`] for the token of another loop,
    /// [`JournalError::OutOfRange`] where something that follows the token is not kept any
    /// more, and storage errors.
    pub async fn follow(&self, filter: Filter, from: From) -> Result<Follow, JournalError> {
        let loop_id = filter.loop_id.as_deref();
        let scope = loop_id.map(scope_of);
        let start = match from {
            From::Earliest => Start::Earliest,
            From::Now => {
                let position = self.shared.tail.last();
                Start::After {
                    position,
                    horizon: position,
                }
            }
            From::After(token) => {
                let position = self.admit(&token, loop_id).await?;
                Start::After {
                    position,
                    horizon: token.horizon,
                }
            }
        };
        // An empty page finds out whether the place is good, before anything is promised.
        let page = self.page(&filter, start, 0).await?;
        let through = match start {
            Start::After { position, .. } | Start::Kept(position) => position,
            Start::Earliest => 0,
        };
        Ok(Follow {
            journal: self.clone(),
            filter,
            start: Start::After {
                position: through,
                horizon: page.horizon,
            },
            through,
            horizon: page.horizon,
            scope,
            live: None,
            caught_up: false,
        })
    }
}

impl Follow {
    /// Token that resumes behind everything told so far.
    pub fn token(&self) -> Token {
        self.journal.token(self.through, self.horizon, self.scope)
    }

    /// Token that resumes behind one of the entries just told.
    pub fn token_after(&self, entry: &Entry) -> Token {
        self.journal.token(entry.position, self.horizon, self.scope)
    }

    /// What comes next. Waits where there is nothing. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// [`JournalError::OutOfRange`] where entries were purged before they could be told, and
    /// storage errors; none of them is passing.
    pub async fn next(&mut self) -> Result<Followed, JournalError> {
        loop {
            if std::mem::take(&mut self.caught_up) {
                return Ok(Followed::CaughtUp);
            }
            let told = match &mut self.live {
                Some(live) if live.joined => match live.tail.recv().await {
                    Ok(published) => {
                        live.fresh = false;
                        self.take(published)
                    }
                    Err(RecvError::Lagged(_)) if live.fresh => {
                        // The stored part took long; that is no fault of the follower's.
                        self.live = None;
                        None
                    }
                    Err(RecvError::Lagged(_)) => Some(Followed::Behind),
                    Err(RecvError::Closed) => return Err(JournalError::Closed),
                },
                _ => self.replay().await?,
            };
            if let Some(told) = told {
                return Ok(told);
            }
        }
    }

    /// Reads the next stored page, and joins the tail at the end of what is stored.
    async fn replay(&mut self) -> Result<Option<Followed>, JournalError> {
        let page = self.journal.page(&self.filter, self.start, PAGE).await?;
        self.through = page.through;
        self.start = Start::After {
            position: page.through,
            horizon: self.horizon,
        };
        if page.is_last {
            let live = self.live.get_or_insert_with(|| {
                let (tail, from) = self.journal.shared.tail.subscribe();
                Live {
                    tail,
                    from,
                    joined: false,
                    fresh: true,
                }
            });
            // Whatever the tail tells of comes behind what was read.
            live.joined = self.through >= live.from;
            self.caught_up = live.joined;
        }
        Ok((!page.entries.is_empty()).then_some(Followed::Entries(page.entries)))
    }

    /// Takes what the tail tells of; none where there is nothing to tell.
    fn take(&mut self, published: Published) -> Option<Followed> {
        let Published {
            first,
            last,
            entries,
        } = published;
        if last <= self.through {
            return None;
        }
        let entries = match entries {
            Some(entries) if first <= self.through + 1 => entries,
            _ => {
                // Too large for the tail: it is read from the store.
                self.live = None;
                return None;
            }
        };
        let fitting: Vec<Arc<Entry>> = entries
            .iter()
            .filter(|entry| entry.position > self.through && self.filter.allows(entry))
            .cloned()
            .collect();
        self.through = last;
        self.start = Start::After {
            position: last,
            horizon: self.horizon,
        };
        (!fitting.is_empty()).then_some(Followed::Entries(fitting))
    }
}
