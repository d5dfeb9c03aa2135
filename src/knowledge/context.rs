//! The `[KNOWLEDGE_CONTEXT]` message, within a budget.

use crate::hydrate::Counter;
use crate::hydrate::render::harmless;

/// What the message begins with.
pub const MARKER: &str = "[KNOWLEDGE_CONTEXT]";

/// A part of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Header; empty for a line of a list.
    pub title: String,
    /// What it says.
    pub content: String,
}

/// Which parts are left out first where there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Least {
    /// The first: what is farthest.
    First,
    /// The last: what fits worst.
    Last,
}

/// A message that fits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// The message; empty where nothing is in it.
    pub message: String,
    /// Its tokens.
    pub tokens: usize,
    /// What counted them.
    pub counter: String,
    /// Parts that are in it, in their order: places in the list that was given.
    pub kept: std::ops::Range<usize>,
    /// Whether the one that matters most was cut, because it did not fit alone.
    pub cut: bool,
}

/// Fits parts into a budget. Parts are left out whole, least first; the last that is left is
/// cut if it is too long by itself.
pub(super) fn fit(parts: &[Part], least: Least, budget: usize, counter: &Counter) -> Context {
    let texts: Vec<String> = parts.iter().map(write).collect();
    let sizes: Vec<usize> = texts.iter().map(|text| counter.count(text)).collect();
    let mut kept = 0..parts.len();
    let frame = |kept: &std::ops::Range<usize>| counter.count(&head(parts.len() - kept.len()));
    // The parts' own tokens say nearly what fits; the whole decides.
    let mut size: usize = sizes.iter().sum();
    loop {
        if kept.is_empty() {
            return Context {
                counter: counter.name().to_owned(),
                ..Context::default()
            };
        }
        let near = size + frame(&kept) <= budget + kept.len();
        if near {
            let message = head(parts.len() - kept.len()) + &texts[kept.clone()].concat();
            let tokens = counter.count(&message);
            if tokens <= budget {
                return Context {
                    message,
                    tokens,
                    counter: counter.name().to_owned(),
                    kept,
                    cut: false,
                };
            }
        }
        if kept.len() == 1 {
            return cut(&parts[kept.start], parts.len() - 1, kept, budget, counter);
        }
        let gone = match least {
            Least::First => kept.start,
            Least::Last => kept.end - 1,
        };
        size -= sizes[gone];
        kept = match least {
            Least::First => gone + 1..kept.end,
            Least::Last => kept.start..gone,
        };
    }
}

/// The message with one part, as much of it as fits.
fn cut(
    part: &Part,
    missing: usize,
    kept: std::ops::Range<usize>,
    budget: usize,
    counter: &Counter,
) -> Context {
    let title = match part.title.as_str() {
        "" => String::new(),
        title => format!("{title} (cut)"),
    };
    let frame = write(&Part {
        title: title.clone(),
        content: String::new(),
    });
    let fixed = counter.count(&(head(missing) + &frame));
    let mut room = budget.saturating_sub(fixed);
    while room > 0 {
        let (end, _) = counter.head(&part.content, room);
        let message = head(missing)
            + &write(&Part {
                title: title.clone(),
                content: part.content[..end].to_owned(),
            });
        let tokens = counter.count(&message);
        if tokens <= budget && end > 0 {
            return Context {
                message,
                tokens,
                counter: counter.name().to_owned(),
                kept,
                cut: true,
            };
        }
        room = room.saturating_sub((tokens.saturating_sub(budget)).max(1));
    }
    Context {
        counter: counter.name().to_owned(),
        ..Context::default()
    }
}

fn head(missing: usize) -> String {
    match missing {
        0 => MARKER.to_owned(),
        missing => format!("{MARKER} {missing} left out for want of room."),
    }
}

fn write(part: &Part) -> String {
    let content = harmless(part.content.trim());
    match part.title.as_str() {
        "" => format!("\n- {content}"),
        title => {
            let title: String = title.chars().filter(|c| !c.is_control()).collect();
            format!("\n\n## {}\n{content}", harmless(&title))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(title: &str, content: &str) -> Part {
        Part {
            title: title.into(),
            content: content.into(),
        }
    }

    fn fitted(parts: &[Part], budget: usize) -> Context {
        fit(parts, Least::First, budget, &Counter::estimate())
    }

    #[test]
    fn parts_stand_in_order() {
        let context = fitted(&[part("AGENTS.md", "Be kind.\n"), part("", "a is b")], 100);
        assert_eq!(
            context.message,
            "[KNOWLEDGE_CONTEXT]\n\n## AGENTS.md\nBe kind.\n- a is b"
        );
        assert_eq!((context.kept, context.cut), (0..2, false));
        assert_eq!(fitted(&[], 100).message, "");
    }

    #[test]
    fn the_farthest_go_first_and_it_is_said() {
        let parts: Vec<Part> = (0..4)
            .map(|n| part(&format!("{n}"), &"word ".repeat(20)))
            .collect();
        let context = fitted(&parts, 80);
        assert_eq!(context.kept, 2..4);
        assert!(
            context
                .message
                .starts_with("[KNOWLEDGE_CONTEXT] 2 left out")
        );
        let context = fit(&parts, Least::Last, 80, &Counter::estimate());
        assert_eq!(context.kept, 0..2);
    }

    #[test]
    fn the_nearest_is_cut_where_it_does_not_fit_alone() {
        let parts = [part("far", "x"), part("near", &"语".repeat(1_000))];
        let context = fitted(&parts, 60);
        assert!(context.cut && context.tokens <= 60 && context.tokens > 50);
        assert!(context.message.contains("## near (cut)\n语"));
        assert_eq!(fitted(&parts, 3).message, "");
    }

    proptest! {
        #[test]
        fn no_budget_is_ever_exceeded(
            contents in prop::collection::vec(("[a-z]{0,4}", "(?s).{0,120}"), 0..6),
            budget in 0usize..150,
        ) {
            let parts: Vec<Part> = contents.iter().map(|(title, text)| part(title, text)).collect();
            let context = fitted(&parts, budget);
            prop_assert!(Counter::estimate().count(&context.message) <= budget);
        }
    }
}
