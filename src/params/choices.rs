//! Which of the values that a schema lists a text names.

use std::ops::Range;

use serde_json::Value;

use super::mention::{Mentions, is_cjk, is_word, lower};
use super::schema::Property;

/// Other words for values that many schemas list.
#[rustfmt::skip]
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (
        &["create", "add", "new"],
        &[
            "create", "new", "make", "start a", "add", "set up", "erstelle", "erstell", "neuen",
            "neue", "neues", "anlegen", "leg", "erzeuge", "hinzufügen", "füge", "新建", "创建", "建一个",
            "添加", "新增",
        ],
    ),
    (
        &["delete", "remove", "drop"],
        &[
            "delete", "remove", "drop", "get rid of", "lösche", "lösch", "löschen", "entferne",
            "entfernen", "删除", "移除", "删掉",
        ],
    ),
    (
        &["list", "show"],
        &[
            "list", "show all", "which", "liste", "zeige alle", "zeig alle", "auflisten",
            "welche", "列出", "有哪些",
        ],
    ),
    (&["rename"], &["rename", "umbenennen", "benenne", "重命名", "改名"]),
    (
        &["update", "edit", "modify"],
        &["update", "edit", "modify", "change", "aktualisiere", "ändere", "bearbeite", "更新", "修改"],
    ),
    (&["high"], &["high", "urgent", "hoch", "hohe", "hoher", "dringend", "高", "紧急"]),
    (&["low"], &["low", "niedrig", "niedrige", "gering", "低"]),
    (&["medium", "normal"], &["medium", "normal", "mittel", "mittlere", "中等", "普通"]),
    (&["critical"], &["critical", "kritisch", "kritische", "kritischen", "严重"]),
    (&["major"], &["major", "große", "wichtige", "重大"]),
    (&["minor"], &["minor", "kleine", "次要"]),
    (&["short"], &["short", "brief", "kurz", "kurze", "简短", "简要"]),
    (&["long"], &["long", "detailed", "in detail", "lang", "ausführlich", "ausführliche", "详细"]),
    (
        &["car", "driving"],
        &["car", "by car", "drive", "driving", "auto", "mit dem auto", "开车", "驾车"],
    ),
    (
        &["bicycle", "bike", "cycling"],
        &["bicycle", "bike", "cycling", "cycle", "fahrrad", "rad", "骑车", "骑行", "自行车"],
    ),
    (&["foot", "walk", "walking"], &["foot", "on foot", "walk", "walking", "zu fuß", "步行", "走路"]),
    (
        &["transit", "public"],
        &[
            "transit", "bus", "train", "subway", "public transport", "öffentlichen", "bahn",
            "zug", "u-bahn", "公交", "地铁",
        ],
    ),
    (&["metric"], &["metric", "celsius", "metrisch", "metrischen", "摄氏"]),
    (&["imperial"], &["imperial", "fahrenheit", "imperialen", "华氏"]),
    (&["dark"], &["dark", "dunkel", "dunkles", "dunkle", "dunklen", "深色", "暗色"]),
    (&["light"], &["light", "hell", "helles", "helle", "hellen", "浅色", "亮色"]),
    (&["jpeg", "jpg"], &["jpeg", "jpg"]),
    (&["markdown", "md"], &["markdown", "md"]),
    (&["html"], &["html", "web page", "webseite", "网页"]),
    (&["docx"], &["docx", "word document", "word-dokument", "word文档"]),
    (&["bar"], &["bar chart", "bar", "bars", "balkendiagramm", "säulendiagramm", "柱状图", "条形图"]),
    (&["line"], &["line chart", "line graph", "liniendiagramm", "折线图"]),
    (&["pie"], &["pie chart", "pie", "tortendiagramm", "kreisdiagramm", "kuchendiagramm", "饼图"]),
    (&["scatter"], &["scatter plot", "scatter", "streudiagramm", "punktdiagramm", "散点图"]),
    (&["password"], &["password", "passwort", "kennwort", "密码"]),
    (&["passphrase"], &["passphrase", "口令"]),
    (&["memory"], &["memory", "ram", "speicher", "内存"]),
    (&["cpu"], &["cpu", "prozessor", "处理器"]),
    (&["security"], &["security", "sicherheit", "安全"]),
    (&["tests"], &["tests", "测试"]),
    (&["style"], &["style", "stil", "风格"]),
    (&["correctness"], &["correctness", "korrektheit", "正确性"]),
    (&["open"], &["open", "offene", "offenen", "打开的", "未关闭"]),
    (&["closed"], &["closed", "geschlossene", "geschlossenen", "已关闭"]),
    (&["merged"], &["merged", "zusammengeführte", "gemergte", "gemergten", "已合并"]),
    (&["error"], &["error", "errors", "fehler", "错误"]),
    (&["warning", "warn"], &["warning", "warnings", "warn", "warnungen", "警告"]),
    (&["tables"], &["tables", "table", "tabellen", "tabelle", "表格"]),
    (&["text"], &["text", "文字", "文本"]),
    (&["metadata"], &["metadata", "metadaten", "元数据"]),
    (&["window"], &["window", "fenster", "窗口"]),
    (&["screen"], &["screen", "whole screen", "bildschirm", "屏幕", "全屏"]),
    (&["page"], &["page", "seite", "页面", "网页"]),
    (&["codebase"], &["codebase", "code base", "repository", "repo", "codebasis", "代码库", "代码仓库"]),
    (&["session"], &["session", "conversation", "sitzung", "gespräch", "会话", "对话"]),
    (&["weekday"], &["weekday", "day of the week", "wochentag", "星期几"]),
    (&["difference"], &["difference", "days between", "days until", "unterschied", "相差"]),
    (&["replace"], &["replace", "ersetze", "替换"]),
    (&["insert"], &["insert", "einfügen", "füge", "插入"]),
    (&["copy"], &["copy", "kopiere", "kopier", "复制"]),
    (&["paste"], &["paste", "粘贴"]),
    (&["push"], &["push", "stash my", "stash", "put aside", "weglegen", "暂存"]),
    (&["pop"], &["pop", "bring back", "zurückholen", "取回"]),
    (&["allow"], &["allow", "permit", "erlaube", "允许"]),
    (&["deny"], &["deny", "forbid", "verbiete", "禁止"]),
    (&["development", "dev"], &["development", "dev", "entwicklung", "开发"]),
    (&["staging"], &["staging", "预发", "预发布"]),
    (&["production", "prod"], &["production", "prod", "live", "produktion", "生产"]),
    (&["monday"], &["monday", "montag", "周一"]),
    (&["yes", "true"], &["yes", "ja", "是"]),
];

/// Values that are common words: only the patterns below name them.
#[rustfmt::skip]
const SWITCHES: &[(&str, &[&str], &[&str])] = &[
    ("on", &["turn", "switch", "schalte", "schalt", "mach", "power"], &["on", "an", "ein"]),
    ("off", &["turn", "switch", "schalte", "schalt", "mach", "power"], &["off", "aus"]),
];
#[rustfmt::skip]
const SWITCH_WORDS: &[(&str, &[&str])] = &[
    (
        "on",
        &[
            "turn on", "switch on", "enable", "activate", "einschalten", "anschalten",
            "aktiviere", "打开", "开启", "启用",
        ],
    ),
    (
        "off",
        &[
            "turn off", "switch off", "disable", "deactivate", "ausschalten", "abschalten",
            "deaktiviere", "关闭", "关掉", "停用",
        ],
    ),
];
/// Never named by themselves.
#[rustfmt::skip]
const TOO_COMMON: &[&str] = &[
    "on", "off", "up", "down", "set", "state", "all", "none", "auto", "default", "any", "a", "in",
    "ask", "ours",
];

/// The one value that a text names, with its bytes; none where it names two.
pub(super) fn find(
    text: &str,
    mentions: &Mentions,
    property: &Property,
) -> Option<(Value, Range<usize>)> {
    let lower = lower(text);
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    for (number, value) in property.choices.iter().enumerate() {
        let name = match value {
            Value::String(name) => name.clone(),
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        if let Some(span) = named(text, &lower, mentions, &name, value, property) {
            found.push((number, span));
        }
    }
    // A value that lies within the words of another ("open" in "reopen it") is not named.
    let spans: Vec<Range<usize>> = found.iter().map(|(_, span)| span.clone()).collect();
    found.retain(|(_, span)| {
        !spans.iter().any(|other| {
            other != span
                && other.start <= span.start
                && span.end <= other.end
                && other.len() > span.len()
        })
    });
    let action = property.named(&["action", "operation", "command", "kind", "direction"]);
    if !action {
        // The verb of the request is no value: "merge it with squash".
        let first = mentions.words.first().map(|word| word.start..word.end);
        let is_sign = |span: &Range<usize>| !text[span.clone()].chars().any(char::is_lowercase);
        found.retain(|(_, span)| Some(span) != first.as_ref() || is_sign(span));
    }
    match found.as_slice() {
        [(number, span)] => Some((property.choices[*number].clone(), span.clone())),
        _ => None,
    }
}

fn named(
    text: &str,
    lower: &str,
    mentions: &Mentions,
    name: &str,
    value: &Value,
    property: &Property,
) -> Option<Range<usize>> {
    // Values in capitals are signs, not words: "GET", "MX", "A".
    let is_sign = name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
    if is_sign {
        let mut found = text.match_indices(name).map(|(at, _)| at..at + name.len());
        return found.find(|span| {
            is_word(text, span)
                && (name.len() > 1
                    || mentions
                        .after(span)
                        .next()
                        .is_some_and(|word| word.lower.starts_with("record")))
        });
    }
    let own = name.to_lowercase();
    for (switch, verbs, particles) in SWITCHES {
        if own != *switch {
            continue;
        }
        let by_phrase = SWITCH_WORDS
            .iter()
            .filter(|(name, _)| name == switch)
            .flat_map(|(_, phrases)| *phrases)
            .find_map(|phrase| locate(lower, phrase));
        if by_phrase.is_some() {
            return by_phrase;
        }
        let verb = mentions
            .words
            .iter()
            .position(|word| verbs.contains(&word.lower.as_str()))?;
        let particle = mentions.words[verb + 1..]
            .iter()
            .take(6)
            .find(|word| particles.contains(&word.lower.as_str()))?;
        return Some(mentions.words[verb].start..particle.end);
    }
    let own_words = own.replace(['_', '-'], " ");
    let mut phrases: Vec<String> = Vec::new();
    if !TOO_COMMON.contains(&own.as_str()) && own.chars().count() > 1 {
        phrases.push(own.clone());
        phrases.push(own_words);
        for ending in ["s", "d", "ed", "ing"] {
            phrases.push(format!("{own}{ending}"));
        }
    }
    for (names, words) in SYNONYMS {
        if names.contains(&own.as_str()) {
            phrases.extend(words.iter().map(|word| (*word).to_owned()));
        }
    }
    for (of, words) in &property.synonyms {
        if of == value {
            phrases.extend(words.iter().cloned());
        }
    }
    // "line 40" is a place, not a kind of chart.
    let numbered = |span: &Range<usize>| {
        mentions.after(span).next().is_some_and(|word| {
            word.start <= span.end + 1 && word.lower.bytes().all(|b| b.is_ascii_digit())
        })
    };
    // Inside an address or path it names nothing.
    let opaque = |span: &Range<usize>| {
        mentions.words.iter().any(|word| {
            word.start <= span.start
                && span.end <= word.end
                && word.lower.contains(['/', '@', '.'])
                && (word.end - word.start) > span.len() + 1
        })
    };
    phrases
        .iter()
        .filter(|phrase| !phrase.is_empty())
        .filter_map(|phrase| locate(lower, phrase))
        .filter(|span| !numbered(span) && !opaque(span))
        .max_by_key(|span| (span.len(), usize::MAX - span.start))
}

/// The first place of a phrase as whole words.
fn locate(lower: &str, phrase: &str) -> Option<Range<usize>> {
    let unspaced = phrase.chars().any(is_cjk);
    lower
        .match_indices(phrase)
        .map(|(at, _)| at..at + phrase.len())
        .find(|span| unspaced || is_word(lower, span))
}
