//! Places in the journal as opaque text.
//!
//! A token stands for everything up to one event. It names the journal (its epoch), so that
//! one from a data directory that was since replaced is noticed, and the loop that its reader
//! may see, if it was made for one. It is no secret and no right of its own: whoever may read
//! a loop may ask for it without a token.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

const VERSION: u8 = 1;

/// A place in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The journal: the time it was created at, so a later one has a larger epoch.
    pub(super) epoch: u64,
    /// Everything up to this position has been seen.
    pub(super) position: u64,
    /// What was purged up to this position was gone when the reader began, so it does not
    /// miss it.
    pub(super) horizon: u64,
    /// Stands for the one loop that the token is good for; none means all.
    pub(super) scope: Option<u64>,
}

/// The scope of a token for one loop.
pub(super) fn scope_of(loop_id: &str) -> u64 {
    let hash = Sha256::digest(loop_id.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_be_bytes(first)
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.epoch.to_be_bytes());
        push_varint(&mut bytes, self.position);
        push_varint(&mut bytes, self.horizon);
        if let Some(scope) = self.scope {
            bytes.extend_from_slice(&scope.to_be_bytes());
        }
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        for byte in bytes {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read(text).ok_or_else(|| "is no position of this journal's making".to_owned())
    }
}

fn read(text: &str) -> Option<Token> {
    // The longest token has 41 bytes.
    if text.len() > 100 || !text.is_ascii() {
        return None;
    }
    let bytes: Vec<u8> = (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect::<Option<_>>()?;
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(body) != u32::from_be_bytes(*sum) {
        return None;
    }
    let (VERSION, rest) = body.split_first().map(|(version, rest)| (*version, rest))? else {
        return None;
    };
    let (epoch, mut rest) = rest.split_first_chunk::<8>()?;
    let position = take_varint(&mut rest)?;
    let horizon = take_varint(&mut rest)?;
    let scope = match rest {
        [] => None,
        rest => Some(u64::from_be_bytes(rest.try_into().ok()?)),
    };
    Some(Token {
        epoch: u64::from_be_bytes(*epoch),
        position,
        horizon,
        scope,
    })
}

/// LEB128: seven bits a byte, lowest first.
fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(first & 0x7f);
        // The tenth byte has room for one bit.
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_back() {
        for position in [0, 1, 127, 128, 1 << 40, u64::MAX] {
            for scope in [None, Some(scope_of("loop-1"))] {
                let token = Token {
                    epoch: 7,
                    position,
                    horizon: position / 2,
                    scope,
                };
                assert_eq!(token.to_string().parse(), Ok(token));
            }
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let token = Token {
            epoch: 7,
            position: 300,
            horizon: 2,
            scope: None,
        }
        .to_string();
        assert!(token[1..].parse::<Token>().is_err());
        assert!(format!("{token}00").parse::<Token>().is_err());
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(changed.parse::<Token>().is_err(), "{changed}");
        }
        for text in ["", "0", "zz", "é", &"0".repeat(1_000), "+1+1+1+1+1"] {
            assert!(text.parse::<Token>().is_err(), "{text:?}");
        }
    }
}
