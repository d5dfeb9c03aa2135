//! Chinese dates and times.

use jiff::civil::{Date, Time};
use jiff::{Span, ToSpan, Zoned};

use super::super::numerals;
use super::{Moment, WEEKDAYS, coming, days_from, next_weekday};

/// Adds the moments of a text.
pub(super) fn chinese(text: &str, now: &Zoned, found: &mut Vec<Moment>) {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match chinese_at(rest, now) {
            Some((date, time, exact, length)) => {
                found.push(Moment {
                    span: at..at + length,
                    date,
                    time,
                    exact,
                    is_weekday: false,
                });
                at += length;
            }
            None => at += c.len_utf8(),
        }
    }
}

/// A unit of time, so many of it, and whether they end at an exact moment.
type Step = (&'static str, fn(i64) -> Span, bool);

type Found = (Option<Date>, Option<Time>, Option<Zoned>, usize);

fn chinese_at(rest: &str, now: &Zoned) -> Option<Found> {
    for (word, days) in [
        ("大后天", 3),
        ("后天", 2),
        ("明天", 1),
        ("今天", 0),
        ("昨天", -1),
        ("前天", -2),
        ("明日", 1),
        ("今日", 0),
        ("明早", 1),
        ("今晚", 0),
        ("明晚", 1),
    ] {
        if rest.starts_with(word) {
            return Some((days_from(now, days), None, None, word.len()));
        }
    }
    for prefix in [
        "下周",
        "下星期",
        "下个星期",
        "这周",
        "本周",
        "上周",
        "周",
        "星期",
        "礼拜",
    ] {
        let Some(after) = rest.strip_prefix(prefix) else {
            continue;
        };
        let day = after.chars().next()?;
        let number = "一二三四五六日"
            .find(day)
            .map(|at| at / 3)
            .or((day == '天').then_some(6))?;
        let weekday = WEEKDAYS[number].0;
        let monday = now
            .date()
            .checked_sub((i64::from(now.date().weekday().to_monday_zero_offset())).days())
            .ok()?;
        let in_week = |weeks: i64| monday.checked_add((weeks * 7 + number as i64).days()).ok();
        let date = match prefix {
            "下周" | "下星期" | "下个星期" => in_week(1),
            "这周" | "本周" => in_week(0),
            "上周" => in_week(-1),
            _ => next_weekday(now, weekday),
        };
        return Some((date, None, None, prefix.len() + day.len_utf8()));
    }
    let parts = ["凌晨", "早上", "上午", "中午", "下午", "傍晚", "晚上"];
    let part = parts.iter().find(|part| rest.starts_with(**part));
    let skipped = part.map_or(0, |part| part.len());
    let (number, digits) = numerals::leading(&rest[skipped..])?;
    let after = &rest[skipped + digits..];
    let used = skipped + digits;
    if let Some(tail) = after
        .strip_prefix('点')
        .or_else(|| after.strip_prefix('时').filter(|_| part.is_some()))
    {
        if tail.starts_with('击') {
            return None;
        }
        let mut hour = i8::try_from(number).ok()?;
        let later = matches!(part, Some(&("下午" | "傍晚" | "晚上"))) && hour < 12;
        if later {
            hour += 12;
        }
        let mut length = used + 3;
        let tail = tail
            .strip_prefix('钟')
            .inspect(|_| length += 3)
            .unwrap_or(tail);
        let mut minute = 0;
        if tail.starts_with('半') {
            minute = 30;
            length += 3;
        } else if tail.starts_with("一刻") {
            minute = 15;
            length += 6;
        } else if let Some((value, bytes)) = numerals::leading(tail)
            && tail[bytes..].starts_with('分')
        {
            minute = i8::try_from(value).ok()?;
            length += bytes + 3;
        }
        return Some((None, Time::new(hour, minute, 0, 0).ok(), None, length));
    }
    if part.is_some() {
        return None;
    }
    if let Some(tail) = after.strip_prefix('年') {
        let (month, bytes) = numerals::leading(tail)?;
        let tail = tail[bytes..].strip_prefix('月')?;
        let (day, more) = numerals::leading(tail)?;
        let end = tail[more..]
            .chars()
            .next()
            .filter(|c| matches!(c, '日' | '号'))?;
        let date = Date::new(
            i16::try_from(number).ok()?,
            i8::try_from(month).ok()?,
            i8::try_from(day).ok()?,
        )
        .ok()?;
        return Some((
            Some(date),
            None,
            None,
            used + 3 + bytes + 3 + more + end.len_utf8(),
        ));
    }
    if let Some(tail) = after.strip_prefix('月') {
        let (day, bytes) = numerals::leading(tail)?;
        let end = tail[bytes..]
            .chars()
            .next()
            .filter(|c| matches!(c, '日' | '号'))?;
        let date = coming(now, i8::try_from(number).ok()?, i8::try_from(day).ok()?)?;
        return Some((Some(date), None, None, used + 3 + bytes + end.len_utf8()));
    }
    let units: [Step; 8] = [
        ("分钟", |n| n.minutes(), true),
        ("个小时", |n| n.hours(), true),
        ("小时", |n| n.hours(), true),
        ("天", |n| n.days(), false),
        ("周", |n| n.weeks(), false),
        ("个星期", |n| n.weeks(), false),
        ("个月", |n| n.months(), false),
        ("年", |n| n.years(), false),
    ];
    for (unit, step, exact) in units {
        let Some(tail) = after.strip_prefix(unit) else {
            continue;
        };
        for (word, sign) in [
            ("之后", 1),
            ("以后", 1),
            ("后", 1),
            ("之前", -1),
            ("以前", -1),
            ("前", -1),
        ] {
            if tail.starts_with(word) {
                let moment = now.checked_add(step(sign * i64::from(number))).ok()?;
                let length = used + unit.len() + word.len();
                return Some(match exact {
                    true => (
                        Some(moment.date()),
                        Some(moment.time()),
                        Some(moment),
                        length,
                    ),
                    false => (Some(moment.date()), None, None, length),
                });
            }
        }
    }
    None
}
