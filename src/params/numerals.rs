//! Numbers written as words or in Chinese characters, as far as times and counts use them.

/// English, German and a few other number words up to twelve, and the tens.
const WORDS: &[(&str, u32)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("eins", 1),
    ("zwei", 2),
    ("drei", 3),
    ("vier", 4),
    ("fünf", 5),
    ("sechs", 6),
    ("sieben", 7),
    ("acht", 8),
    ("neun", 9),
    ("zehn", 10),
    ("elf", 11),
    ("zwölf", 12),
    ("zwanzig", 20),
    ("dreißig", 30),
];

/// The value of a number word.
pub(super) fn word(word: &str) -> Option<u32> {
    WORDS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, value)| *value)
}

fn digit(c: char) -> Option<u32> {
    match c {
        '〇' | '零' => Some(0),
        '一' => Some(1),
        '二' | '两' => Some(2),
        '三' => Some(3),
        '四' => Some(4),
        '五' => Some(5),
        '六' => Some(6),
        '七' => Some(7),
        '八' => Some(8),
        '九' => Some(9),
        _ => None,
    }
}

/// Reads a Chinese number up to 9,999, or ASCII digits, at the beginning of a text: its value
/// and its bytes.
pub(super) fn leading(text: &str) -> Option<(u32, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        return Some((text[..digits].parse().ok()?, digits));
    }
    let (mut total, mut current, mut length) = (0u32, None, 0);
    for c in text.chars() {
        if let Some(value) = digit(c) {
            // "二〇二六" counts by place.
            current = Some(current.map_or(value, |before: u32| before * 10 + value));
        } else {
            let unit = match c {
                '十' => 10,
                '百' => 100,
                '千' => 1_000,
                _ => break,
            };
            total += current.take().unwrap_or(1) * unit;
        }
        length += c.len_utf8();
        if total > 99_999 || current.is_some_and(|value| value > 9_999) {
            return None;
        }
    }
    (length > 0).then(|| (total + current.unwrap_or(0), length))
}
