//! Rebuilds open loops from the journal.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use super::events::Written;
use super::live::Live;
use super::{Charter, LoopError, LoopHub};
use crate::journal::event::{Started, TerminationReason};
use crate::journal::{
    Append, EventType, Filter, LoopEvent, NewEvent, OpenLoop, RESERVED_PREFIX, TypeSet,
};

/// Entries of one page.
const PAGE: usize = 1_000;

impl LoopHub {
    /// Rebuilds every loop that is open. A loop that others began by the journal alone is not
    /// the guard's; one whose beginning was purged cannot be rebuilt and is abandoned.
    pub(super) async fn rebuild(&self) -> Result<(), LoopError> {
        for open in self.inner.journal.open_loops().await? {
            if open.loop_id.starts_with(RESERVED_PREFIX) {
                continue;
            }
            match self.rebuilt(&open).await? {
                Rebuilt::Live(live) => {
                    self.inner
                        .loops
                        .insert(open.loop_id, Arc::new(Mutex::new(*live)));
                }
                Rebuilt::Headless => self.abandon(open).await?,
                Rebuilt::Foreign => {}
            }
        }
        Ok(())
    }

    async fn rebuilt(&self, open: &OpenLoop) -> Result<Rebuilt, LoopError> {
        let types = TypeSet::from_iter([EventType::Started, EventType::Custom]);
        let filter = Filter {
            types,
            ..Filter::of_loop(&open.loop_id)
        };
        let mut live: Option<Live> = None;
        let mut headless = false;
        let mut after = None;
        loop {
            let page = self
                .inner
                .journal
                .list(&filter, after.as_ref(), PAGE)
                .await?;
            for entry in &page.entries {
                match (&entry.event, &mut live) {
                    (LoopEvent::Started(started), None) => {
                        live = begun(started, &open.loop_id, &entry.agent_id);
                    }
                    (event, live) => {
                        let Some(written) = Written::from_event(event) else {
                            continue;
                        };
                        match live {
                            Some(live) => live.fold(&written),
                            None => headless = true,
                        }
                    }
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(match live {
            Some(mut live) => {
                live.next_sequence = open.last_sequence + 1;
                live.renew();
                Rebuilt::Live(Box::new(live))
            }
            None if headless => Rebuilt::Headless,
            None => Rebuilt::Foreign,
        })
    }

    async fn abandon(&self, open: OpenLoop) -> Result<(), LoopError> {
        let mut ghost = Live::new(
            &open.loop_id,
            "",
            super::digest_of(&()),
            super::LoopConfig::default(),
            super::DEFAULT_LEASE,
        );
        let end = ghost.ending(TerminationReason::Abandoned, "its beginning was purged");
        let append = Append {
            loop_id: std::mem::take(&mut ghost.loop_id),
            expected_sequence: Some(open.last_sequence + 1),
            events: vec![NewEvent::from(LoopEvent::Terminated(end))],
            ..Append::default()
        };
        self.inner.journal.append(append).await?;
        Ok(())
    }
}

enum Rebuilt {
    Live(Box<Live>),
    /// A guarded loop whose beginning is gone.
    Headless,
    /// Nobody asked the guard to watch it.
    Foreign,
}

fn begun(started: &Started, loop_id: &str, agent_id: &str) -> Option<Live> {
    let charter: Charter = serde_json::from_str(&started.config).ok()?;
    let lease = Duration::from_millis(charter.lease_ms);
    Some(Live::new(
        loop_id,
        agent_id,
        charter.created_by,
        charter.config,
        lease,
    ))
}
