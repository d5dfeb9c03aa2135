//! Headings of skill texts, in English, German and Chinese, and the field each stands for.

/// The list field that a section feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Capabilities,
    UseWhen,
    NotWhen,
    Examples,
    Triggers,
}

impl Field {
    /// All of them.
    pub const ALL: [Field; 5] = [
        Field::Capabilities,
        Field::UseWhen,
        Field::NotWhen,
        Field::Examples,
        Field::Triggers,
    ];

    /// Name of the field of an entry.
    pub fn as_str(self) -> &'static str {
        match self {
            Field::Capabilities => "capabilities",
            Field::UseWhen => "use_when",
            Field::NotWhen => "not_when",
            Field::Examples => "examples",
            Field::Triggers => "triggers",
        }
    }

    /// Headings that stand for it, in lower case.
    fn phrases(self) -> &'static [&'static str] {
        match self {
            Field::Capabilities => &[
                "core abilities",
                "core capabilities",
                "core competencies",
                "key capabilities",
                "key abilities",
                "main capabilities",
                "capabilities",
                "abilities",
                "what it can do",
                "what this skill can do",
                "what this skill does",
                "kernfähigkeiten",
                "kernfunktionen",
                "kernkompetenzen",
                "hauptfunktionen",
                "fähigkeiten",
                "was es kann",
                "was er kann",
                "was dieser skill kann",
                "核心能力",
                "核心功能",
                "主要能力",
                "主要功能",
                "能力",
                "功能",
            ],
            Field::UseWhen => &[
                "when to use",
                "when to use it",
                "when to use this",
                "when to use this skill",
                "when to use the skill",
                "when to activate",
                "use when",
                "use this when",
                "use this skill when",
                "use it when",
                "use for",
                "use this skill for",
                "use case",
                "use cases",
                "suitable for",
                "applicable scenarios",
                "wann verwenden",
                "wann zu verwenden",
                "wann nutzen",
                "wann einsetzen",
                "wann benutzen",
                "verwenden wenn",
                "verwenden, wenn",
                "einsetzen, wenn",
                "wann diesen skill verwenden",
                "anwendungsfall",
                "anwendungsfälle",
                "einsatzgebiete",
                "einsatzbereiche",
                "geeignet für",
                "适用场景",
                "使用场景",
                "应用场景",
                "适用情况",
                "何时使用",
                "什么时候使用",
                "适用于",
                "適用場景",
                "使用場景",
                "何時使用",
            ],
            Field::NotWhen => &[
                "when not to use",
                "when not to use it",
                "when not to use this",
                "when not to use this skill",
                "when not to use the skill",
                "do not use",
                "do not use when",
                "do not use for",
                "don't use",
                "don't use when",
                "don't use for",
                "don’t use when",
                "don’t use for",
                "do not use this skill when",
                "do not use this skill for",
                "not for",
                "not suitable for",
                "not applicable",
                "wann nicht verwenden",
                "wann nicht zu verwenden",
                "wann nicht nutzen",
                "wann nicht einsetzen",
                "wann nicht benutzen",
                "nicht verwenden",
                "nicht verwenden wenn",
                "nicht verwenden, wenn",
                "nicht verwenden für",
                "wann diesen skill nicht verwenden",
                "nicht geeignet für",
                "nicht geeignet",
                "不适用场景",
                "不适用情况",
                "不适用",
                "不适用于",
                "不要使用",
                "何时不使用",
                "何时不用",
                "什么时候不使用",
                "不適用場景",
                "不適用",
                "何時不使用",
            ],
            Field::Examples => &[
                "example",
                "examples",
                "example prompts",
                "example queries",
                "example requests",
                "example usage",
                "usage examples",
                "sample prompts",
                "beispiel",
                "beispiele",
                "beispielanfragen",
                "beispielprompts",
                "anwendungsbeispiele",
                "示例",
                "例子",
                "例如",
                "使用示例",
                "示例问题",
                "示例提示",
                "范例",
                "範例",
            ],
            Field::Triggers => &[
                "trigger",
                "triggers",
                "trigger words",
                "trigger phrases",
                "trigger keywords",
                "keywords",
                "auslöser",
                "auslösewörter",
                "schlüsselwörter",
                "stichwörter",
                "触发词",
                "触发条件",
                "触发",
                "触发器",
                "关键词",
                "觸發詞",
                "觸發",
            ],
        }
    }
}

/// The field a heading stands for. Decoration around it (`##`, `**`, an emoji, `【】`, a
/// colon) does not matter.
pub(super) fn field_of(heading: &str) -> Option<Field> {
    // The longest phrase has far fewer bytes; a longer line is a sentence.
    if heading.len() > 120 {
        return None;
    }
    let heading = heading
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let heading = heading.split_whitespace().collect::<Vec<_>>().join(" ");
    Field::ALL
        .into_iter()
        .find(|field| field.phrases().contains(&heading.as_str()))
}
