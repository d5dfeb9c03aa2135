//! Dates and times, relative to a clock. The arithmetic is jiff's; the words are ours.

mod chinese;

use std::ops::Range;

use jiff::civil::{Date, Time, Weekday};
use jiff::{Span, ToSpan, Zoned};

use super::mention::{self, Word};
use super::{Clock, numerals};

/// A date, a time, or both, and its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moment {
    pub span: Range<usize>,
    pub date: Option<Date>,
    pub time: Option<Time>,
    /// A moment as such: "in 20 minutes".
    pub exact: Option<Zoned>,
    /// Whether the date is the next of a day of the week.
    pub is_weekday: bool,
}

impl Moment {
    fn of_date(span: Range<usize>, date: Date) -> Self {
        Self {
            span,
            date: Some(date),
            time: None,
            exact: None,
            is_weekday: false,
        }
    }

    fn of_time(span: Range<usize>, time: Time) -> Self {
        Self {
            span,
            date: None,
            time: Some(time),
            exact: None,
            is_weekday: false,
        }
    }

    fn of_exact(span: Range<usize>, exact: Zoned) -> Self {
        Self {
            span,
            date: Some(exact.date()),
            time: Some(exact.time()),
            exact: Some(exact),
            is_weekday: false,
        }
    }
}

#[rustfmt::skip]
const TODAY: &[&str] = &["today", "tonight", "heute", "aujourd'hui", "hoy", "oggi", "vandaag"];
#[rustfmt::skip]
const TOMORROW: &[&str] = &["tomorrow", "morgen", "demain", "mañana", "domani"];
#[rustfmt::skip]
const YESTERDAY: &[&str] = &["yesterday", "gestern", "hier", "ayer", "ieri", "gisteren"];

#[rustfmt::skip]
const MONTHS: &[&[&str]] = &[
    &["january", "jan", "januar", "jänner", "janvier", "enero", "gennaio"],
    &["february", "feb", "februar", "février", "febrero", "febbraio"],
    &["march", "mar", "märz", "mars", "marzo"],
    &["april", "apr", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio"],
    &["june", "jun", "juni", "juin", "junio", "giugno"],
    &["july", "jul", "juli", "juillet", "julio", "luglio"],
    &["august", "aug", "août", "agosto"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre"],
    &["november", "nov", "novembre", "noviembre"],
    &["december", "dec", "dezember", "dez", "décembre", "diciembre", "dicembre"],
];

#[rustfmt::skip]
const WEEKDAYS: &[(Weekday, &[&str])] = &[
    (Weekday::Monday, &["monday", "montag", "lundi", "lunes", "lunedì", "maandag"]),
    (Weekday::Tuesday, &["tuesday", "dienstag", "mardi", "martes", "martedì", "dinsdag"]),
    (
        Weekday::Wednesday,
        &["wednesday", "mittwoch", "mercredi", "miércoles", "mercoledì", "woensdag"],
    ),
    (Weekday::Thursday, &["thursday", "donnerstag", "jeudi", "jueves", "giovedì", "donderdag"]),
    (Weekday::Friday, &["friday", "freitag", "vendredi", "viernes", "venerdì", "vrijdag"]),
    (
        Weekday::Saturday,
        &["saturday", "samstag", "sonnabend", "samedi", "sábado", "sabato", "zaterdag"],
    ),
    (Weekday::Sunday, &["sunday", "sonntag", "dimanche", "domingo", "domenica", "zondag"]),
];

/// Words before a day of the week that has passed.
const LAST: &[&str] = &["last", "letzten", "vergangenen", "vorigen"];

/// Finds the moments of a text; `words` are its words, `taken` bytes that mean something else.
pub(super) fn scan(
    text: &str,
    words: &[Word],
    taken: &[Range<usize>],
    clock: &Clock,
) -> Vec<Moment> {
    let now = clock.now.to_zoned(clock.zone.clone());
    let lower = mention::lower(text);
    let mut found = Vec::new();
    numeric(text, &now, &mut found);
    worded(words, &now, &mut found);
    chinese::chinese(&lower, &now, &mut found);
    found.retain(|moment: &Moment| {
        !taken
            .iter()
            .any(|taken| taken.start < moment.span.end && moment.span.start < taken.end)
    });
    found.sort_by_key(|moment| (moment.span.start, usize::MAX - moment.span.end));
    let mut kept: Vec<Moment> = Vec::new();
    for moment in found {
        match kept.last_mut() {
            Some(last) if moment.span.start < last.span.end => {}
            Some(last) if belongs(text, last, &moment) => {
                last.span.end = moment.span.end;
                last.date = last.date.or(moment.date);
                last.time = last.time.or(moment.time);
            }
            _ => kept.push(moment),
        }
    }
    kept
}

/// Whether a date and a time stand side by side: "tomorrow at 7".
fn belongs(text: &str, one: &Moment, next: &Moment) -> bool {
    let complements = one.exact.is_none()
        && next.exact.is_none()
        && (one.date.is_some() != next.date.is_some())
        && (one.time.is_some() != next.time.is_some());
    if !complements {
        return false;
    }
    let between = text[one.span.end..next.span.start].trim().to_lowercase();
    [
        "", ",", "at", "um", "on", "am", "à", "a las", "alle", "om", "的", "，", "gegen", "around",
        "in the", "früh um",
    ]
    .contains(&between.as_str())
}

/// "2026-12-24", "24.12.2026", "24.12.", "12/24/2026", "19:30".
fn numeric(text: &str, now: &Zoned, found: &mut Vec<Moment>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let starts = bytes[at].is_ascii_digit()
            && at.checked_sub(1).is_none_or(|before| {
                !bytes[before].is_ascii_alphanumeric() && !b"./:-_#@".contains(&bytes[before])
            });
        if !starts {
            at += 1;
            continue;
        }
        let length = bytes[at..]
            .iter()
            .take_while(|b| b.is_ascii_digit() || b".-/:T".contains(b))
            .count();
        let raw = text[at..at + length].trim_end_matches(['-', '/', ':', 'T']);
        let end = at + raw.len();
        let free = bytes
            .get(end)
            .is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        if free {
            let span = at..end;
            if let Some(date) = iso(raw)
                .or_else(|| dotted(raw, now))
                .or_else(|| slashed(raw))
            {
                found.push(Moment::of_date(span, date));
            } else if let Some((date, time)) = raw
                .split_once('T')
                .and_then(|(d, t)| Some((iso(d)?, clock_time(t)?)))
            {
                found.push(Moment {
                    span,
                    date: Some(date),
                    time: Some(time),
                    exact: None,
                    is_weekday: false,
                });
            } else if let Some(time) = clock_time(raw.trim_end_matches('.')) {
                found.push(Moment::of_time(
                    at..at + raw.trim_end_matches('.').len(),
                    time,
                ));
            }
        }
        at += length.max(1);
    }
}

fn iso(raw: &str) -> Option<Date> {
    let raw = raw.trim_end_matches('.');
    let is_iso = raw.len() == 10 && raw.bytes().filter(|b| *b == b'-').count() == 2;
    is_iso.then(|| raw.parse().ok()).flatten()
}

/// German order; without a year, the next such day.
fn dotted(raw: &str, now: &Zoned) -> Option<Date> {
    let parts: Vec<&str> = raw.split('.').collect();
    match parts.as_slice() {
        [day, month, year] if year.len() == 4 => Date::new(
            year.parse().ok()?,
            month.parse().ok()?,
            day.trim().parse().ok()?,
        )
        .ok(),
        [day, month, ""] if day.len() <= 2 && month.len() <= 2 => {
            coming(now, month.parse().ok()?, day.parse().ok()?)
        }
        _ => None,
    }
}

/// Month and day in either order, where only one of them can be the month.
fn slashed(raw: &str) -> Option<Date> {
    let parts: Vec<&str> = raw.trim_end_matches('.').split('/').collect();
    let [first, second, year] = parts.as_slice() else {
        return None;
    };
    let (first, second, year): (i8, i8, i16) = (
        first.parse().ok()?,
        second.parse().ok()?,
        year.parse().ok()?,
    );
    if year < 1000 {
        return None;
    }
    match (first, second) {
        (day, month) if day > 12 && month <= 12 => Date::new(year, month, day).ok(),
        (month, day) if day > 12 && month <= 12 => Date::new(year, month, day).ok(),
        (same, other) if same == other => Date::new(year, same, other).ok(),
        _ => None,
    }
}

fn clock_time(raw: &str) -> Option<Time> {
    let parts: Vec<&str> = raw.split(':').collect();
    let two = |part: &str| (part.len() <= 2).then(|| part.parse::<i8>().ok()).flatten();
    match parts.as_slice() {
        [hour, minute] if minute.len() == 2 => Time::new(two(hour)?, two(minute)?, 0, 0).ok(),
        [hour, minute, second] if minute.len() == 2 && second.len() == 2 => {
            Time::new(two(hour)?, two(minute)?, two(second)?, 0).ok()
        }
        _ => None,
    }
}

/// The next day of that month and number, today included.
fn coming(now: &Zoned, month: i8, day: i8) -> Option<Date> {
    let today = now.date();
    let this_year = Date::new(today.year(), month, day);
    match this_year {
        Ok(date) if date >= today => Some(date),
        _ => Date::new(today.year() + 1, month, day).ok(),
    }
}

fn days_from(now: &Zoned, days: i64) -> Option<Date> {
    now.date().checked_add(days.days()).ok()
}

/// The first such weekday after today.
fn next_weekday(now: &Zoned, weekday: Weekday) -> Option<Date> {
    now.date().nth_weekday(1, weekday).ok()
}

fn worded(words: &[Word], now: &Zoned, found: &mut Vec<Moment>) {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let mut at = 0;
    while at < words.len() {
        match read_words(words, &lower, at, now) {
            Some((moment, length)) => {
                found.push(moment);
                at += length.max(1);
            }
            None => at += 1,
        }
    }
}

fn read_words<'a>(
    words: &[Word],
    lower: &impl Fn(usize) -> &'a str,
    at: usize,
    now: &Zoned,
) -> Option<(Moment, usize)> {
    let word = lower(at);
    let before = at.checked_sub(1).map_or("", lower);
    let span = |length: usize| words[at].start..words[at + length - 1].end;
    let date =
        |length: usize, date: Option<Date>| Some((Moment::of_date(span(length), date?), length));

    if [word, lower(at + 1), lower(at + 2), lower(at + 3)] == ["the", "day", "after", "tomorrow"] {
        return date(4, days_from(now, 2));
    }
    if [word, lower(at + 1), lower(at + 2)] == ["day", "after", "tomorrow"] {
        return date(3, days_from(now, 2));
    }
    if [word, lower(at + 1), lower(at + 2)] == ["day", "before", "yesterday"] {
        return date(3, days_from(now, -2));
    }
    match word {
        "übermorgen" => return date(1, days_from(now, 2)),
        "vorgestern" => return date(1, days_from(now, -2)),
        "noon" | "mittags" => {
            return Some((Moment::of_time(span(1), Time::constant(12, 0, 0, 0)), 1));
        }
        "midnight" | "mitternacht" => return Some((Moment::of_time(span(1), Time::MIN), 1)),
        // "am Morgen", "jeden Morgen", "guten Morgen" is the time of day.
        "morgen"
            if ["am", "jeden", "guten", "diesen", "den"].contains(&before)
                || words[at].upper && at > 0 =>
        {
            return None;
        }
        "hier" | "mañana" if !is_french_or_spanish(words) => return None,
        _ => {}
    }
    for (table, days) in [(TODAY, 0), (TOMORROW, 1), (YESTERDAY, -1)] {
        if table.contains(&word) {
            return date(1, days_from(now, days));
        }
    }
    if let Some(found) = weekday(lower, at, before, now) {
        let (day, length) = found;
        let mut moment = Moment::of_date(span(length), day?);
        moment.is_weekday = !LAST.contains(&before);
        return Some((moment, length));
    }
    if let Some(moment) = offset(words, lower, at, now) {
        return Some(moment);
    }
    if let Some((day, length)) = month_and_day(lower, at, now) {
        return date(length, day);
    }
    let (time, length) = time_of_day(words, lower, at)?;
    Some((Moment::of_time(span(length), time), length))
}

fn is_french_or_spanish(words: &[Word]) -> bool {
    words.iter().any(|word| {
        ["le", "la", "el", "de", "une", "una", "les", "los"].contains(&word.lower.as_str())
    })
}

fn weekday<'a>(
    lower: &impl Fn(usize) -> &'a str,
    at: usize,
    before: &str,
    now: &Zoned,
) -> Option<(Option<Date>, usize)> {
    let (weekday, _) = WEEKDAYS
        .iter()
        .find(|(_, names)| names.contains(&lower(at)))?;
    // "every Friday" and "Fridays" are no single day.
    if ["every", "each", "jeden", "chaque"].contains(&before) {
        return None;
    }
    let last = LAST.contains(&before);
    Some((
        match last {
            true => now.date().nth_weekday(-1, *weekday).ok(),
            false => next_weekday(now, *weekday),
        },
        1,
    ))
}

/// "in 3 days", "3 days ago", "vor drei Tagen", "in einer Stunde".
fn offset<'a>(
    words: &[Word],
    lower: &impl Fn(usize) -> &'a str,
    at: usize,
    now: &Zoned,
) -> Option<(Moment, usize)> {
    let opens = matches!(lower(at), "in" | "vor" | "dans" | "en" | "tra");
    let number_at = at + usize::from(opens);
    let number = lower(number_at);
    let count = match number {
        "a" | "an" | "einer" | "einem" | "einen" | "une" | "un" | "una" => Some(1),
        word => word.parse().ok().or_else(|| numerals::word(word)),
    }?;
    if count > 10_000 {
        return None;
    }
    let unit = lower(number_at + 1);
    let ago = lower(number_at + 2) == "ago";
    if !opens && !ago {
        return None;
    }
    let sign = if ago || lower(at) == "vor" { -1 } else { 1 };
    let amount = sign * i64::from(count);
    let (step, exact): (Span, bool) = match unit {
        "minute" | "minutes" | "minuten" | "mins" | "min" | "minutos" | "minuti" => {
            (amount.minutes(), true)
        }
        "hour" | "hours" | "stunde" | "stunden" | "heures" | "heure" | "horas" | "ore" => {
            (amount.hours(), true)
        }
        "day" | "days" | "tag" | "tagen" | "tage" | "jours" | "jour" | "días" | "giorni" => {
            (amount.days(), false)
        }
        "week" | "weeks" | "woche" | "wochen" | "semaines" | "semaine" | "semanas" => {
            (amount.weeks(), false)
        }
        "month" | "months" | "monat" | "monaten" | "mois" | "meses" => (amount.months(), false),
        "year" | "years" | "jahr" | "jahren" | "ans" | "años" => (amount.years(), false),
        _ => return None,
    };
    let length = usize::from(opens) + 2 + usize::from(ago);
    let span = words[at].start..words[at + length - 1].end;
    let moment = now.checked_add(step).ok()?;
    Some(match exact {
        true => (Moment::of_exact(span, moment), length),
        false => (Moment::of_date(span, moment.date()), length),
    })
}

fn day_number(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(['.', ',']);
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|suffix| digits.strip_suffix(suffix))
        .unwrap_or(digits);
    let day: i8 = digits.parse().ok()?;
    (1..=31).contains(&day).then_some(day)
}

fn month_number(word: &str) -> Option<i8> {
    let word = word.trim_end_matches(['.', ',']);
    let at = MONTHS.iter().position(|names| names.contains(&word))?;
    i8::try_from(at + 1).ok()
}

fn year_number(word: &str) -> Option<i16> {
    let year: i16 = word.trim_end_matches(['.', ',']).parse().ok()?;
    (1900..=2200).contains(&year).then_some(year)
}

/// "24 December 2026", "the 24th of December", "December 24, 2026", "24. Dezember".
fn month_and_day<'a>(
    lower: &impl Fn(usize) -> &'a str,
    at: usize,
    now: &Zoned,
) -> Option<(Option<Date>, usize)> {
    let dated = |month: i8, day: i8, year: Option<i16>| match year {
        Some(year) => Date::new(year, month, day).ok(),
        None => coming(now, month, day),
    };
    if let Some(day) = day_number(lower(at)) {
        let of = usize::from(["of", "de"].contains(&lower(at + 1)));
        let month = month_number(lower(at + 1 + of))?;
        let year = year_number(lower(at + 2 + of));
        let length = 2 + of + usize::from(year.is_some());
        return Some((dated(month, day, year), length));
    }
    let month = month_number(lower(at))?;
    let day = day_number(lower(at + 1))?;
    let year = year_number(lower(at + 2));
    Some((dated(month, day, year), 2 + usize::from(year.is_some())))
}

/// "7 am", "7am", "7:30 pm", "um 7 Uhr", "at 7 o'clock", "halb acht".
fn time_of_day<'a>(
    words: &[Word],
    lower: &impl Fn(usize) -> &'a str,
    at: usize,
) -> Option<(Time, usize)> {
    if lower(at) == "halb" {
        let hour = lower(at + 1)
            .parse()
            .ok()
            .or_else(|| numerals::word(lower(at + 1)))?;
        let hour = i8::try_from(hour)
            .ok()
            .filter(|hour| (1..=24).contains(hour))?;
        return Some((Time::new(hour - 1, 30, 0, 0).ok()?, 2));
    }
    let word = lower(at);
    let (number, half, joined) = match ["am", "pm"]
        .iter()
        .find_map(|half| Some((word.strip_suffix(half)?, *half)))
    {
        Some((number, half)) if !number.is_empty() => (number, half, true),
        _ => (word, lower(at + 1), false),
    };
    let (hour, minute) = match number.split_once([':', '.']) {
        Some((hour, minute)) if minute.len() == 2 => {
            (hour.parse::<i8>().ok()?, minute.parse::<i8>().ok()?)
        }
        Some(_) => return None,
        None => {
            let hour = number
                .parse::<i8>()
                .ok()
                .or_else(|| numerals::word(number).and_then(|value| i8::try_from(value).ok()))?;
            (hour, 0)
        }
    };
    // "a.m." comes as one word with its dots.
    let half = half.trim_end_matches('.').replace('.', "");
    let morning =
        half == "am" && (joined || words.get(at + 1).is_some_and(|word| is_half(&word.lower)));
    let evening = half == "pm";
    let oclock = matches!(lower(at + 1), "uhr" | "o'clock" | "heures" | "uur");
    if morning || evening {
        let hour = match (hour, evening) {
            (12, false) => 0,
            (12, true) => 12,
            (hour, true) if hour < 12 => hour + 12,
            (hour, false) if hour < 12 => hour,
            _ => return None,
        };
        return Some((
            Time::new(hour, minute, 0, 0).ok()?,
            if joined { 1 } else { 2 },
        ));
    }
    if oclock {
        // "7 Uhr 30"
        let minutes = lower(at + 2)
            .parse::<i8>()
            .ok()
            .filter(|minutes| minute == 0 && *minutes < 60);
        let time = Time::new(hour, minutes.unwrap_or(minute), 0, 0).ok()?;
        return Some((time, 2 + usize::from(minutes.is_some())));
    }
    let introduced = at > 0
        && ["at", "um"].contains(&lower(at - 1))
        && number.bytes().all(|b| b.is_ascii_digit());
    let unit = super::units::named(lower(at + 1)).is_some();
    (introduced && !unit && (0..24).contains(&hour))
        .then(|| Some((Time::new(hour, minute, 0, 0).ok()?, 1)))?
}

/// German "am" is a preposition; the English mark of the hour stands behind a number.
fn is_half(word: &str) -> bool {
    matches!(word, "am" | "a.m" | "a.m." | "pm" | "p.m" | "p.m.")
}
