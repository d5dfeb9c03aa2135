//! Words that tie a value to a parameter.

use std::ops::Range;

use super::super::mention::{Kind, is_word};
use super::super::schema::Property;

/// Words that stand beside a value instead of the property's own name.
pub(super) fn cues(property: &Property) -> &'static [&'static str] {
    const TABLE: &[(&[&str], &[&str])] = &[
        (&["line"], &["line", "zeile", "行", "ligne", "línea"]),
        (&["port"], &["port", "端口", "puerto"]),
        (
            &["pages", "page"],
            &["page", "pages", "seite", "seiten", "页"],
        ),
        (&["width"], &["width", "wide", "breite", "breit", "宽"]),
        (&["height"], &["height", "high", "höhe", "hoch", "高"]),
        (
            &["length"],
            &[
                "length",
                "characters",
                "chars",
                "long",
                "länge",
                "zeichen",
                "位",
                "字符",
                "长度",
            ],
        ),
        (
            &["replicas"],
            &[
                "replicas",
                "replica",
                "instances",
                "replikas",
                "instanzen",
                "pods",
                "副本",
                "实例",
            ],
        ),
        (
            &["passengers"],
            &[
                "passengers",
                "people",
                "persons",
                "adults",
                "personen",
                "passagiere",
                "travellers",
                "人",
                "位",
            ],
        ),
        (
            &["number"],
            &[
                "number", "issue", "pr", "request", "ticket", "nummer", "no", "工单", "号",
            ],
        ),
        (&["branch"], &["branch", "分支", "zweig"]),
        (&["tag"], &["tag", "标签"]),
        (&["version"], &["version", "版本"]),
        (
            &["symbol", "ticker"],
            &["symbol", "ticker", "stock", "aktie", "股票"],
        ),
        (&["message"], &["message", "nachricht", "消息", "信息"]),
        (&["subject"], &["subject", "betreff", "主题"]),
        (&["title"], &["title", "titel", "标题"]),
        (&["depth"], &["depth", "levels", "deep", "ebenen", "层"]),
        (&["quality"], &["quality", "qualität", "质量"]),
        (
            &["limit"],
            &[
                "limit",
                "results",
                "rows",
                "entries",
                "ergebnisse",
                "zeilen",
                "条",
                "个结果",
            ],
        ),
        (&["service"], &["service", "dienst", "服务"]),
        (&["environment"], &["environment", "umgebung", "环境"]),
        (&["namespace"], &["namespace", "命名空间"]),
        (&["channel"], &["channel", "kanal", "频道"]),
        (&["days"], &["days", "tage", "天"]),
    ];
    TABLE
        .iter()
        .find(|(names, _)| property.named(names))
        .map_or(&[], |(_, cues)| cues)
}

/// Singular and plural count as one.
pub(super) fn same(token: &str, word: &str) -> bool {
    token == word || token.strip_suffix('s') == Some(word) || word.strip_suffix('s') == Some(token)
}

/// Whether a property is where something goes.
pub(super) fn takes(property: &Property) -> bool {
    property.named(&[
        "to",
        "destination",
        "dest",
        "target",
        "output",
        "new",
        "end",
        "until",
        "archive",
        "right",
        "out",
    ]) || property.says(&["wanted"])
}

/// Whether a property is only where something goes: one value without a direction is not it.
pub(super) fn takes_only(property: &Property) -> bool {
    property.named(&["destination", "dest", "output"])
}

/// Whether a property is where something comes from.
pub(super) fn gives(property: &Property) -> bool {
    property.named(&[
        "from", "source", "input", "old", "start", "since", "left", "image", "original",
    ]) || property.says(&["present", "original"])
}

/// Whether a file can be what a property names: an archive is no picture.
pub(super) fn extension_fits(property: &Property, kind: &Kind) -> bool {
    let Kind::Path(path) = kind else {
        return true;
    };
    let Some((_, extension)) = path.rsplit_once('.') else {
        return true;
    };
    let extension = extension.to_lowercase();
    let table: [(&[&str], &[&str]); 6] = [
        (
            &["archive"],
            &["zip", "tar", "gz", "tgz", "bz2", "xz", "7z", "rar"],
        ),
        (
            &["image"],
            &[
                "png", "jpg", "jpeg", "gif", "webp", "svg", "avif", "bmp", "tiff", "heic", "pdf",
            ],
        ),
        (&["video"], &["mp4", "mov", "mkv", "avi", "webm"]),
        (&["notebook"], &["ipynb"]),
        (&["csv"], &["csv", "tsv"]),
        (&["pdf"], &["pdf"]),
    ];
    table
        .iter()
        .filter(|(names, _)| property.named(names))
        .all(|(_, extensions)| extensions.contains(&extension.as_str()))
}

/// Names of languages in a text in lower case.
pub(super) fn language_names(lower: &str) -> Vec<Range<usize>> {
    const NAMES: &[&str] = &[
        "english",
        "german",
        "french",
        "spanish",
        "italian",
        "dutch",
        "portuguese",
        "chinese",
        "japanese",
        "korean",
        "russian",
        "arabic",
        "polish",
        "turkish",
        "swedish",
        "greek",
        "hindi",
        "ukrainian",
        "danish",
        "finnish",
        "norwegian",
        "englisch",
        "englische",
        "deutsch",
        "deutsche",
        "französisch",
        "französische",
        "spanisch",
        "spanische",
        "italienisch",
        "italienische",
        "niederländisch",
        "portugiesisch",
        "chinesisch",
        "chinesische",
        "japanisch",
        "japanische",
        "russisch",
        "russische",
        "polnisch",
        "türkisch",
        "英语",
        "英文",
        "德语",
        "德文",
        "法语",
        "法文",
        "西班牙语",
        "意大利语",
        "日语",
        "日文",
        "韩语",
        "俄语",
        "葡萄牙语",
        "阿拉伯语",
        "中文",
        "汉语",
    ];
    let mut found: Vec<Range<usize>> = NAMES
        .iter()
        .flat_map(|name| {
            lower
                .match_indices(name)
                .map(|(at, name)| at..at + name.len())
        })
        .filter(|span| is_word(lower, span))
        .collect();
    found.sort_by_key(|span| (span.start, usize::MAX - span.end));
    found.dedup_by_key(|span| span.start);
    found
}
