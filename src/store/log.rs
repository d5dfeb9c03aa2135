//! Looking at the write-ahead log of a process that did not end in order.
//!
//! SQLite reads the log up to the first frame whose checksum is wrong and takes no notice of
//! the rest. That is right for the end of the log, which a crash may leave unfinished. But
//! where transactions follow the wrong frame, they were on disk and acknowledged: something
//! damaged them, and going on without them would lose them silently. So the log is looked at
//! before SQLite does.
//!
//! The format is SQLite's (<https://www.sqlite.org/fileformat2.html#walformat>): a header, then
//! frames of a header and a page. The checksum of a frame begins with that of the frame before
//! it, so behind a wrong frame each frame can still be checked against its neighbour.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use super::StoreError;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// First number of a log whose checksums take numbers as little-endian; one more means big.
const MAGIC: u32 = 0x377f_0682;

/// Bytes at the end of the log that belong to no finished transaction.
///
/// # Errors
///
/// [`StoreError::Corrupt`] where finished transactions follow a frame that is damaged.
pub(super) fn unfinished(log: &Path) -> Result<u64, StoreError> {
    let file = match File::open(log) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(unreadable(log, &error)),
    };
    let length = file
        .metadata()
        .map_err(|error| unreadable(log, &error))?
        .len();
    let found = Scan::run(BufReader::with_capacity(1 << 20, file), length);
    match found.map_err(|error| unreadable(log, &error))? {
        Found::Whole => Ok(0),
        Found::Unfinished(bytes) => Ok(bytes),
        Found::Damaged(at) => Err(StoreError::corrupt(format!(
            "the write-ahead log is damaged at byte {at}, before transactions that are finished"
        ))),
    }
}

fn unreadable(log: &Path, error: &io::Error) -> StoreError {
    StoreError::Open {
        path: log.to_owned(),
        reason: error.to_string(),
    }
}

enum Found {
    Whole,
    Unfinished(u64),
    /// Position of the first wrong frame.
    Damaged(u64),
}

/// The two running sums of SQLite's checksum.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sums(u32, u32);

impl Sums {
    fn add(mut self, bytes: &[u8], big_endian: bool) -> Self {
        let word = |bytes: &[u8]| {
            let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
            if big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        for pair in bytes.chunks_exact(8) {
            self.0 = self.0.wrapping_add(word(&pair[..4])).wrapping_add(self.1);
            self.1 = self.1.wrapping_add(word(&pair[4..])).wrapping_add(self.0);
        }
        self
    }
}

/// The number at an index of 4 bytes each.
fn number(bytes: &[u8], at: usize) -> u32 {
    let at = at * 4;
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

struct Scan {
    /// End of the last finished transaction in front of any wrong frame.
    finished: u64,
    /// End of what belongs to this generation of the log; stale frames may follow.
    written: u64,
    /// First wrong frame, and how many transactions have to end behind it to prove that its
    /// own one was finished.
    wrong: Option<(u64, u32)>,
}

impl Scan {
    fn run(mut log: impl Read, length: u64) -> io::Result<Found> {
        let mut header = [0; HEADER];
        if length < HEADER as u64 {
            return Ok(if length == 0 {
                Found::Whole
            } else {
                Found::Unfinished(length)
            });
        }
        log.read_exact(&mut header)?;
        let big_endian = number(&header, 0) == MAGIC + 1;
        let size = number(&header, 2) as usize;
        let sums = Sums(number(&header, 6), number(&header, 7));
        let sound = (big_endian || number(&header, 0) == MAGIC)
            && size.is_power_of_two()
            && (512..=65_536).contains(&size)
            && Sums(0, 0).add(&header[..24], big_endian) == sums;
        if !sound {
            // The header is written in one piece, before the first frame.
            let has_frames = length > HEADER as u64;
            return Ok(if has_frames {
                Found::Damaged(0)
            } else {
                Found::Unfinished(length)
            });
        }
        let mut scan = Self {
            finished: HEADER as u64,
            written: HEADER as u64,
            wrong: None,
        };
        let salts = &header[16..24];
        // The sums that the frame before has, and those that it should have: damage may have
        // met either its sums or its content.
        let mut before = [sums; 2];
        let mut frame = vec![0; FRAME_HEADER + size];
        let mut at = HEADER as u64;
        loop {
            let read = read_up_to(&mut log, &mut frame)?;
            let end = at + read as u64;
            if read < frame.len() {
                if read > 0 && (read < 16 || frame[8..16] == *salts) {
                    scan.written = end;
                }
                return Ok(scan.end());
            }
            let own = Sums(number(&frame, 4), number(&frame, 5));
            let is_ours = frame[8..16] == *salts;
            let is_end = number(&frame, 1) != 0;
            let [stored, right] = before.map(|sums| {
                sums.add(&frame[..8], big_endian)
                    .add(&frame[FRAME_HEADER..], big_endian)
            });
            let is_sound = is_ours && (stored == own || right == own);
            if is_ours {
                scan.written = end;
            }
            match &mut scan.wrong {
                None if is_sound && is_end => scan.finished = end,
                None if is_sound => {}
                None => scan.wrong = Some((at, if is_ours && is_end { 1 } else { 2 })),
                Some((wrong, missing)) if is_sound && is_end => {
                    *missing -= 1;
                    if *missing == 0 {
                        return Ok(Found::Damaged(*wrong));
                    }
                }
                Some(_) => {}
            }
            before = [own, right];
            at = end;
        }
    }

    fn end(self) -> Found {
        match self.written.saturating_sub(self.finished) {
            0 => Found::Whole,
            bytes => Found::Unfinished(bytes),
        }
    }
}

/// Fills the buffer as far as there is something to read.
fn read_up_to(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
