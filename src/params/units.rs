//! Units: their names in a few languages, and their sizes, which come from `uom`.

use std::sync::LazyLock;

use uom::si::f64::{Information, Length, Mass, Time};
use uom::si::information::{
    byte, gibibyte, gigabyte, kibibyte, kilobyte, mebibyte, megabyte, terabyte,
};
use uom::si::length::{centimeter, foot, inch, kilometer, meter, mile, millimeter, yard};
use uom::si::mass::{gram, kilogram, ounce, pound, ton};
use uom::si::time::{day, hour, millisecond, minute, second};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Time,
    Information,
    Length,
    Mass,
    Percent,
}

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub dimension: Dimension,
    /// In the dimension's base unit.
    pub size: f64,
}

type Row = (Unit, &'static [&'static str]);

#[rustfmt::skip]
static UNITS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let time = |size: Time| Unit {
        dimension: Dimension::Time,
        size: size.value,
    };
    let data = |size: Information| Unit {
        dimension: Dimension::Information,
        size: size.value,
    };
    let length = |size: Length| Unit {
        dimension: Dimension::Length,
        size: size.value,
    };
    let mass = |size: Mass| Unit {
        dimension: Dimension::Mass,
        size: size.value,
    };
    vec![
        (
            time(Time::new::<millisecond>(1.0)),
            &[
                "ms", "millis", "millisecond", "milliseconds", "msec", "millisekunde",
                "millisekunden", "毫秒",
            ],
        ),
        (
            time(Time::new::<second>(1.0)),
            &[
                "s", "sec", "secs", "second", "seconds", "sekunde", "sekunden", "sek", "秒", "秒钟",
                "seconde", "secondes", "segundo", "segundos", "secondi", "seconden",
            ],
        ),
        (
            time(Time::new::<minute>(1.0)),
            &[
                "min", "mins", "minute", "minutes", "minuten", "分钟", "分", "minuto", "minutos",
                "minuti", "minuut",
            ],
        ),
        (
            time(Time::new::<hour>(1.0)),
            &[
                "h", "hr", "hrs", "hour", "hours", "stunde", "stunden", "std", "小时", "个小时",
                "heure", "heures", "hora", "horas", "ora", "ore", "uur",
            ],
        ),
        (
            time(Time::new::<day>(1.0)),
            &[
                "d", "day", "days", "tag", "tage", "tagen", "天", "jour", "jours", "día", "días",
                "giorni", "dagen",
            ],
        ),
        (data(Information::new::<byte>(1.0)), &["byte", "bytes", "字节"]),
        (data(Information::new::<kilobyte>(1.0)), &["kb", "kilobyte", "kilobytes"]),
        (data(Information::new::<megabyte>(1.0)), &["mb", "megabyte", "megabytes"]),
        (data(Information::new::<gigabyte>(1.0)), &["gb", "gigabyte", "gigabytes"]),
        (data(Information::new::<terabyte>(1.0)), &["tb", "terabyte", "terabytes"]),
        (data(Information::new::<kibibyte>(1.0)), &["kib"]),
        (data(Information::new::<mebibyte>(1.0)), &["mib"]),
        (data(Information::new::<gibibyte>(1.0)), &["gib"]),
        (length(Length::new::<millimeter>(1.0)), &["mm", "millimeter", "millimeters", "毫米"]),
        (
            length(Length::new::<centimeter>(1.0)),
            &["cm", "centimeter", "centimeters", "zentimeter", "厘米"],
        ),
        (
            length(Length::new::<meter>(1.0)),
            &["m", "meter", "meters", "metre", "metres", "metern", "米"],
        ),
        (
            length(Length::new::<kilometer>(1.0)),
            &[
                "km", "kilometer", "kilometers", "kilometre", "kilometres", "kilometern", "公里",
                "千米",
            ],
        ),
        (length(Length::new::<inch>(1.0)), &["inch", "inches", "zoll", "英寸"]),
        (length(Length::new::<foot>(1.0)), &["ft", "foot", "feet", "fuß", "英尺"]),
        (length(Length::new::<yard>(1.0)), &["yd", "yard", "yards"]),
        (length(Length::new::<mile>(1.0)), &["mi", "mile", "miles", "meile", "meilen", "英里"]),
        (mass(Mass::new::<gram>(1.0)), &["g", "gram", "grams", "gramm", "克"]),
        (
            mass(Mass::new::<kilogram>(1.0)),
            &["kg", "kilogram", "kilograms", "kilogramm", "kilo", "kilos", "公斤", "千克"],
        ),
        (mass(Mass::new::<ounce>(1.0)), &["oz", "ounce", "ounces"]),
        (mass(Mass::new::<pound>(1.0)), &["lb", "lbs", "pound", "pounds", "磅"]),
        (mass(Mass::new::<ton>(1.0)), &["ton", "tons", "tonne", "tonnes", "tonnen", "吨"]),
        (
            Unit {
                dimension: Dimension::Percent,
                size: 1.0,
            },
            &["%", "percent", "prozent", "per cent", "％", "pourcent"],
        ),
    ]
});

/// The unit of a name in lower case.
pub(super) fn named(name: &str) -> Option<Unit> {
    UNITS
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(unit, _)| *unit)
}

/// The longest unit whose name a text without spaces begins with: the unit and its bytes.
pub(super) fn leading(text: &str) -> Option<(Unit, usize)> {
    UNITS
        .iter()
        .flat_map(|(unit, names)| names.iter().map(move |name| (unit, *name)))
        .filter(|(_, name)| !name.is_ascii() && text.starts_with(name))
        .max_by_key(|(_, name)| name.len())
        .map(|(unit, name)| (*unit, name.len()))
}

/// A quantity in another unit of its dimension.
pub(super) fn convert(value: f64, from: Unit, to: Unit) -> Option<f64> {
    (from.dimension == to.dimension).then(|| {
        let converted = value * from.size / to.size;
        // What binary fractions lose: 0.3 h are 18 min.
        let rounded = converted.round();
        if (converted - rounded).abs() < 1e-9 * converted.abs().max(1.0) {
            rounded
        } else {
            converted
        }
    })
}

/// ISO codes of currencies by name and sign.
#[rustfmt::skip]
const CURRENCIES: &[(&str, &[&str])] = &[
    (
        "USD",
        &["usd", "us dollars", "us dollar", "dollars", "dollar", "$", "美元", "us-dollar", "美金"],
    ),
    ("EUR", &["eur", "euros", "euro", "€", "欧元"]),
    ("GBP", &["gbp", "british pounds", "pounds sterling", "pound sterling", "£", "英镑"]),
    ("JPY", &["jpy", "yen", "日元", "円"]),
    ("CNY", &["cny", "rmb", "yuan", "renminbi", "人民币"]),
    ("CHF", &["chf", "swiss francs", "swiss franc", "franken", "schweizer franken", "瑞士法郎"]),
    ("INR", &["inr", "rupees", "rupee", "rupien"]),
    ("SEK", &["sek", "swedish kronor", "swedish krona"]),
    ("CAD", &["cad", "canadian dollars"]),
    ("AUD", &["aud", "australian dollars"]),
    ("KRW", &["krw", "won", "韩元"]),
    ("HKD", &["hkd", "港元", "港币"]),
];

/// Currencies named in a text in lower case: ISO code and bytes, in order, none inside another.
pub(super) fn currencies(lower: &str) -> Vec<(&'static str, std::ops::Range<usize>)> {
    let mut found: Vec<(&'static str, std::ops::Range<usize>)> = Vec::new();
    for (code, names) in CURRENCIES {
        for name in *names {
            for (at, _) in lower.match_indices(name) {
                let span = at..at + name.len();
                if super::mention::is_word(lower, &span) {
                    found.push((code, span));
                }
            }
        }
    }
    found.sort_by_key(|(_, span)| (span.start, usize::MAX - span.end));
    let mut end = 0;
    found.retain(|(_, span)| {
        let keep = span.start >= end;
        if keep {
            end = span.end;
        }
        keep
    });
    found
}
