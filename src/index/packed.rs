//! The packed matrix: all vectors one after another, for scans.

use std::ops::Range;
use std::sync::Arc;

use super::{IndexedEntry, RowRole};

/// Slots whose vectors lie in one chunk. A change copies its chunk (64 entries of 8 vectors
/// of 384 numbers are 0.8 MB, 0.1 ms), a scan pays one pointer per chunk.
pub const SLOTS_PER_CHUNK: usize = 64;

/// Vectors of all entries at one revision.
#[derive(Debug, Clone, Default)]
pub struct PackedMatrix {
    chunks: Vec<Arc<Chunk>>,
}

#[derive(Debug, Default)]
struct Chunk {
    dimensions: usize,
    /// `owners.len() * dimensions` numbers.
    numbers: Vec<f32>,
    owners: Vec<(u32, RowRole)>,
}

impl PackedMatrix {
    /// Vectors held.
    pub fn rows(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.owners.len()).sum()
    }

    /// Calls `visit(slot, role, cosine)` for every vector, in slot order. Vectors of another
    /// dimension than the query's are passed over: they are never compared.
    pub fn scan(&self, query: &[f32], visit: impl FnMut(u32, RowRole, f32)) {
        self.scan_part(0..u32::MAX, query, visit);
    }

    /// The same for the chunks that hold the slots of a range, so that parts of one scan can run
    /// at the same time. Parts that begin and end at multiples of [`SLOTS_PER_CHUNK`] meet every
    /// vector once.
    pub fn scan_part(
        &self,
        slots: Range<u32>,
        query: &[f32],
        mut visit: impl FnMut(u32, RowRole, f32),
    ) {
        let count = self.chunks.len();
        let from = (slots.start as usize / SLOTS_PER_CHUNK).min(count);
        let to = (slots.end as usize)
            .div_ceil(SLOTS_PER_CHUNK)
            .clamp(from, count);
        for chunk in self.chunks[from..to]
            .iter()
            .filter(|chunk| chunk.dimensions == query.len())
        {
            let vectors = chunk.numbers.chunks_exact(chunk.dimensions.max(1));
            for ((slot, role), vector) in chunk.owners.iter().zip(vectors) {
                visit(*slot, *role, dot(query, vector));
            }
        }
    }

    /// Rebuilds the chunks that hold the given slots.
    pub(super) fn refresh(&mut self, slots: &[Option<Arc<IndexedEntry>>], touched: &[u32]) {
        let mut chunks: Vec<usize> = touched
            .iter()
            .map(|slot| *slot as usize / SLOTS_PER_CHUNK)
            .collect();
        chunks.sort_unstable();
        chunks.dedup();
        self.chunks
            .resize_with(slots.len().div_ceil(SLOTS_PER_CHUNK), Arc::default);
        for at in chunks {
            let from = at * SLOTS_PER_CHUNK;
            let to = (from + SLOTS_PER_CHUNK).min(slots.len());
            self.chunks[at] = Arc::new(Chunk::pack(&slots[from..to]));
        }
    }
}

impl Chunk {
    fn pack(slots: &[Option<Arc<IndexedEntry>>]) -> Self {
        let mut chunk = Chunk::default();
        for indexed in slots.iter().flatten() {
            for row in indexed.vectors.iter().flat_map(|vectors| &vectors.rows) {
                if chunk.owners.is_empty() {
                    chunk.dimensions = row.vector.len();
                }
                if row.vector.len() == chunk.dimensions {
                    chunk.owners.push((indexed.slot, row.role));
                    chunk.numbers.extend_from_slice(&row.vector);
                }
            }
        }
        chunk
    }
}

/// Dot product in eight running sums, which the compiler turns into vector instructions; the
/// order of the additions is fixed, so equal inputs give equal bits.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a_blocks, b_blocks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f32 = a_blocks
        .remainder()
        .iter()
        .zip(b_blocks.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in a_blocks.zip(b_blocks) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + tail
}
