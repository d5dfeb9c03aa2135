//! Texts to the states where the lower half ends, each computed once, and on to vectors.
//!
//! Only texts that a training or a measure uses are read: all entries, the prompts that the
//! plan draws, and those kept back.

use std::collections::{BTreeSet, HashMap};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use candle_core::{Device, Tensor};

use super::batch::Batch;
use super::{AdaptError, Progress, Set};
use crate::embed::{Halves, TextRole, Upper};
use crate::index::mean_direction;

/// Texts that go through the model together.
const GROUP: usize = 32;

/// A prompt: number of its set, and its place there.
pub(super) type PromptAt = (usize, usize);

/// States `[tokens, hidden]` where the lower half ends.
pub(super) struct States {
    prompts: HashMap<PromptAt, Tensor>,
    // By set and entry; the texts in the order of the set.
    entries: Vec<Vec<[Tensor; 3]>>,
    threads: usize,
}

impl States {
    /// Reads every entry, the prompts of `plan`, and the prompts kept back.
    pub(super) fn read(
        halves: &Halves,
        threads: usize,
        sets: &[Set],
        plan: &[Batch],
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Self, AdaptError> {
        let planned = plan
            .iter()
            .flat_map(|batch| batch.prompts.iter().chain(&batch.outside));
        let mut wanted: BTreeSet<PromptAt> = planned.copied().collect();
        for (number, set) in sets.iter().enumerate() {
            wanted.extend(set.held().map(|at| (number, at)));
        }
        let wanted: Vec<PromptAt> = wanted.into_iter().collect();
        let prompt =
            |(set, at): &PromptAt| (TextRole::Query, sets[*set].prompts[*at].text.as_str());
        let passages = sets.iter().flat_map(|set| set.entries.iter().flatten());
        let jobs: Vec<(TextRole, &str)> = wanted
            .iter()
            .map(prompt)
            .chain(passages.map(|text| (TextRole::Passage, text.as_str())))
            .collect();
        progress(Progress::Reading { texts: jobs.len() });
        let mut states = in_parallel(threads, &jobs, |texts| halves.lower(texts))?;
        let mut rest = states.split_off(wanted.len()).into_iter();
        let mut entries = Vec::with_capacity(sets.len());
        for set in sets {
            let mut of_set = Vec::with_capacity(set.entries.len());
            for _ in &set.entries {
                // Three jobs were made for each entry.
                match (rest.next(), rest.next(), rest.next()) {
                    (Some(full), Some(name), Some(description)) => {
                        of_set.push([full, name, description]);
                    }
                    _ => return Err(AdaptError::Model("a state is missing".into())),
                }
            }
            entries.push(of_set);
        }
        Ok(Self {
            prompts: wanted.into_iter().zip(states).collect(),
            entries,
            threads,
        })
    }

    /// The states of a prompt.
    pub(super) fn prompt(&self, at: &PromptAt) -> Result<&Tensor, AdaptError> {
        let state = self.prompts.get(at);
        state.ok_or_else(|| AdaptError::Model(format!("prompt {at:?} was not read")))
    }

    /// The states of an entry's text: 0 "name: description", 1 name, 2 description.
    pub(super) fn entry(&self, set: usize, entry: usize, text: usize) -> &Tensor {
        &self.entries[set][entry][text]
    }

    /// Of each set the vectors `[entries, hidden]` of its entries, as the router has them: the
    /// mean direction of the three texts.
    pub(super) fn entry_vectors(&self, upper: &Upper) -> Result<Vec<Tensor>, AdaptError> {
        let of_set = |entries: &Vec<[Tensor; 3]>| {
            let texts: Vec<&Tensor> = entries.iter().flatten().collect();
            let vectors = in_parallel(self.threads, &texts, |texts| upper.vectors(texts))?;
            let means = vectors.chunks(3).map(|texts| {
                let texts: Vec<Arc<[f32]>> = texts.iter().map(|v| v.as_slice().into()).collect();
                let mean = mean_direction(&texts, None);
                let cancelled = "the texts of an entry cancel each other out";
                mean.ok_or_else(|| AdaptError::Model(cancelled.into()))
            });
            matrix(&means.collect::<Result<Vec<_>, _>>()?)
        };
        self.entries.iter().map(of_set).collect()
    }

    /// The vectors `[prompts, hidden]` of prompts.
    pub(super) fn prompt_vectors(
        &self,
        upper: &Upper,
        prompts: &[PromptAt],
    ) -> Result<Tensor, AdaptError> {
        let states = prompts
            .iter()
            .map(|at| self.prompt(at))
            .collect::<Result<Vec<_>, _>>()?;
        let vectors = in_parallel(self.threads, &states, |texts| upper.vectors(texts))?;
        matrix(&vectors)
    }
}

fn matrix<V: AsRef<[f32]>>(rows: &[V]) -> Result<Tensor, AdaptError> {
    let width = rows.first().map_or(0, |row| row.as_ref().len());
    let numbers: Vec<f32> = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
    Ok(Tensor::from_vec(
        numbers,
        (rows.len(), width),
        &Device::Cpu,
    )?)
}

// The results for all items. Each thread takes the next group of items, in a pool that has no
// other thread; the groups are always the same, and so are the results, however many threads.
fn in_parallel<I: Sync, T: Send>(
    threads: usize,
    items: &[I],
    work: impl Fn(&[I]) -> Result<Vec<T>, String> + Sync,
) -> Result<Vec<T>, AdaptError> {
    let groups: Vec<&[I]> = items.chunks(GROUP).collect();
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<T>)>> = Mutex::new(Vec::with_capacity(groups.len()));
    let run = || -> Result<(), String> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = groups.get(at) else {
                return Ok(());
            };
            let results = pool.install(|| work(group))?;
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((at, results));
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.clamp(1, groups.len().max(1)))
            .map(|_| scope.spawn(run))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err("a thread of the training panicked".into()))
        })
    })
    .map_err(AdaptError::Model)?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().flat_map(|(_, results)| results).collect())
}
