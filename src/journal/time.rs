//! Points in time as the journal keeps them, and durations in JSON.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400;
/// Years 1 to 9999, which is what protobuf's Timestamp and RFC 3339 can say.
const EARLIEST: i64 = -62_135_596_800 * MICROS;
const LATEST: i64 = 253_402_300_800 * MICROS - 1;

/// Microseconds since 1970 (UTC), within the years 1 to 9999. Shown as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time of the machine's clock.
    pub fn now() -> Self {
        let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(LATEST),
            // A clock before 1970 is not set; the beginning will do.
            Err(_) => 0,
        };
        Self(micros.min(LATEST))
    }

    /// From microseconds since 1970; `None` outside of the years 1 to 9999.
    pub fn from_micros(micros: i64) -> Option<Self> {
        (EARLIEST..=LATEST)
            .contains(&micros)
            .then_some(Self(micros))
    }

    /// From protobuf's parts; `None` where they are no valid timestamp.
    pub fn from_parts(seconds: i64, nanos: i32) -> Option<Self> {
        let nanos = u32::try_from(nanos)
            .ok()
            .filter(|nanos| *nanos < 1_000_000_000)?;
        let micros = seconds
            .checked_mul(MICROS)?
            .checked_add(i64::from(nanos / 1_000))?;
        Self::from_micros(micros)
    }

    /// Microseconds since 1970.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970, and the nanoseconds on top of them.
    pub fn to_parts(self) -> (i64, i32) {
        let nanos = self.0.rem_euclid(MICROS) * 1_000;
        (self.0.div_euclid(MICROS), i32::try_from(nanos).unwrap_or(0))
    }

    /// This long before; not before the year 1.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(micros).max(EARLIEST))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(MICROS);
        let (year, month, day) = civil(seconds.div_euclid(DAY));
        let second = seconds.rem_euclid(DAY);
        let (hours, minutes) = (second / 3_600, second / 60 % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{:02}",
            second % 60
        )?;
        write!(f, ".{:06}Z", self.0.rem_euclid(MICROS))
    }
}

impl FromStr for Timestamp {
    type Err = String;

    /// Reads RFC 3339 in UTC (`2026-01-31T09:30:00Z`), with up to nine digits of a second.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| format!("{text:?} is no time such as 2026-01-31T09:30:00Z"))
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let (date, time) = text.strip_suffix(['Z', 'z'])?.split_once(['T', 't', ' '])?;
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut date = date.splitn(3, '-').map(|part| digits(part, 4));
    let mut whole = whole.splitn(3, ':').map(|part| digits(part, 2));
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (hour, minute, second) = (whole.next()??, whole.next()??, whole.next()??);
    if hour > 23 || minute > 59 || second > 59 || year < 1 || fraction.is_empty() {
        return None;
    }
    let days = days(year, month, day);
    // A day that does not exist comes back as another one.
    if civil(days) != (year, month, day) {
        return None;
    }
    let nanos = digits(&format!("{fraction:0<9}"), 9)?;
    let seconds = days * DAY + hour * 3_600 + minute * 60 + second;
    Timestamp::from_micros(seconds.checked_mul(MICROS)? + nanos / 1_000)
}

fn digits(text: &str, most: usize) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// Year, month and day of a day since 1970 (Howard Hinnant, "chrono-compatible low-level date
/// algorithms", `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The inverse (`days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let of_era = year.rem_euclid(400);
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    year.div_euclid(400) * 146_097 + days - 719_468
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// A [`Duration`] as whole microseconds.
pub(in crate::journal) mod micros {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(value.as_micros()).unwrap_or(u64::MAX))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_and_read_back() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400 * MICROS, "2000-02-29T00:00:00.000000Z"),
            (1_767_225_599_123_456, "2025-12-31T23:59:59.123456Z"),
            (EARLIEST, "0001-01-01T00:00:00.000000Z"),
            (LATEST, "9999-12-31T23:59:59.999999Z"),
        ] {
            let time = Timestamp::from_micros(micros).unwrap();
            assert_eq!(time.to_string(), text);
            assert_eq!(text.parse(), Ok(time));
            let (seconds, nanos) = time.to_parts();
            assert_eq!(Timestamp::from_parts(seconds, nanos), Some(time));
        }
        assert_eq!(
            "2026-01-31T09:30:00Z"
                .parse::<Timestamp>()
                .unwrap()
                .to_string(),
            "2026-01-31T09:30:00.000000Z"
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "Z",
            "2026-01-31",
            "2026-01-31T09:30:00",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567890Z",
            "0000-01-01T00:00:00Z",
            "2026-01-01T00:00:00+02:00",
            "12026-01-01T00:00:00Z",
            "-2026-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text:?}");
        }
        assert_eq!(Timestamp::from_micros(LATEST + 1), None);
        assert_eq!(Timestamp::from_parts(i64::MAX, 0), None);
        assert_eq!(Timestamp::from_parts(0, -1), None);
        assert_eq!(Timestamp::from_parts(0, 1_000_000_000), None);
    }
}
