use super::*;
use proptest::prelude::*;

/// The parts in the order meant; `!` before what is not wanted.
fn meant(prompt: &str) -> Vec<String> {
    let reading = Reading::of(prompt);
    let sign = |part: &Part| match part.polarity {
        Polarity::Wanted => "",
        Polarity::Unwanted => "!",
    };
    reading
        .order()
        .into_iter()
        .map(|at| &reading.parts[at])
        .map(|part| format!("{}{}", sign(part), part.text))
        .collect()
}

#[test]
fn negations_are_found() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "Not a finance analysis; create a product requirements document",
            "create a product requirements document",
            &["a finance analysis"],
        ),
        (
            "Do not send an email, write it to a file",
            "write it to a file",
            &["send an email"],
        ),
        (
            "Don't commit, just show me the diff",
            "show me the diff",
            &["commit"],
        ),
        (
            "Write it to a file, not an email",
            "Write it to a file",
            &["an email"],
        ),
        (
            "Instead of deploying, run the tests",
            "run the tests",
            &["deploying"],
        ),
        (
            "Use a chart instead of a table",
            "Use a chart",
            &["a table"],
        ),
        (
            "Fix the tests without changing the API",
            "Fix the tests",
            &["changing the API"],
        ),
        (
            "I don't want a report, I want a chart",
            "a chart",
            &["a report"],
        ),
        ("Don't send it", "", &["send it"]),
        (
            "Schick keine Mail, schreib es in eine Datei",
            "schreib es in eine Datei",
            &["Schick Mail"],
        ),
        (
            "Keine Finanzanalyse, sondern ein Anforderungsdokument erstellen",
            "ein Anforderungsdokument erstellen",
            &["Finanzanalyse"],
        ),
        (
            "Nicht die Finanzanalyse, sondern das Anforderungsdokument",
            "das Anforderungsdokument",
            &["die Finanzanalyse"],
        ),
        (
            "Lösche den Branch nicht, wechsle nur auf ihn",
            "wechsle nur auf ihn",
            &["Lösche den Branch"],
        ),
        (
            "Räum auf, ohne Dateien zu löschen",
            "Räum auf",
            &["Dateien zu löschen"],
        ),
        (
            "不要财务分析，要产品需求文档",
            "要产品需求文档",
            &["财务分析"],
        ),
        ("别发邮件，写到文件里", "写到文件里", &["发邮件"]),
        ("不是创建分支，而是切换分支", "切换分支", &["创建分支"]),
        ("写到文件里，不要发邮件", "写到文件里", &["发邮件"]),
        (
            "N'envoie pas de mail, écris-le dans un fichier",
            "écris-le dans un fichier",
            &["de mail"],
        ),
        (
            "No envíes un correo, escribe el resultado en un archivo",
            "escribe el resultado en un archivo",
            &["envíes un correo"],
        ),
        (
            "Non inviare una mail, scrivi il testo in un file",
            "scrivi il testo in un file",
            &["inviare una mail"],
        ),
        (
            "Stuur geen e-mail, maar schrijf het in een bestand",
            "schrijf het in een bestand",
            &["Stuur e-mail"],
        ),
        (
            "メールを送信しないで、ファイルに書いてください",
            "ファイルに書いてください",
            &["メールを送信"],
        ),
    ];
    for (prompt, positive, unwanted) in cases {
        let reading = Reading::of(prompt);
        let found: Vec<&str> = reading.unwanted().map(|part| part.text.as_str()).collect();
        assert_eq!(
            (reading.positive().as_str(), &*found),
            (*positive, *unwanted),
            "{prompt}"
        );
    }
}

#[test]
fn what_only_looks_like_a_negation_is_none() {
    for prompt in [
        "Create a finance analysis without delay",
        "Write a summary, no fluff",
        "Please don't forget to push the branch",
        "The build does not work, find out why",
        "Why don't the tests pass?",
        "Show branches that are not merged",
        "Not sure which branch I am on, show me",
        "not only commit but also push",
        "I do not have a calendar entry for the meeting, create one",
        "list files not tracked by git",
        "I don't need the reservation anymore",
        "Lösche nicht mehr benötigte Branches",
        "Zeige nicht gemergte Branches",
        "Erstelle ohne Verzögerung eine Finanzanalyse",
        "Lies nicht zuletzt wegen der Abhängigkeiten die Datei package.json",
        "Finde alle Tests, die nicht laufen, und repariere sie",
        "Ich kann mich nicht einloggen, prüfe bitte die Logs",
        "Vergiss nicht, den Branch zu pushen",
        "Prüfe, ob keine Secrets im Repo sind",
        "Kein Problem, committe einfach alles",
        "这个结果不错，帮我写份总结",
        "别忘了推送分支",
        "特别喜欢这个方案，分别给两个版本写文档",
        "El build no funciona, busca el error",
        "Print the words \"do not enter\" on a sign",
    ] {
        let unwanted: Vec<String> = Reading::of(prompt)
            .unwanted()
            .map(|p| p.text.clone())
            .collect();
        assert!(unwanted.is_empty(), "{prompt}: {unwanted:?}");
    }
}

#[test]
fn parts_come_in_the_order_meant() {
    let cases: &[(&str, &[&str])] = &[
        ("Run the tests, then deploy", &["Run the tests", "deploy"]),
        (
            "Deploy to production, but first run the tests",
            &["run the tests", "Deploy to production"],
        ),
        (
            "Deploy to production. Before that, run the tests",
            &["run the tests", "Deploy to production"],
        ),
        (
            "Before you merge the branch, rebase it",
            &["rebase it", "merge the branch"],
        ),
        (
            "Open a pull request after pushing the branch",
            &["push the branch", "Open a pull request"],
        ),
        (
            "Once the build is green, publish the package",
            &["the build is green", "publish the package"],
        ),
        (
            "1. lint the code\n2. commit it",
            &["lint the code", "commit it"],
        ),
        (
            "First fetch the page, after that save it",
            &["fetch the page", "save it"],
        ),
        (
            "Erst die Tests laufen lassen, danach ausrollen",
            &["die Tests laufen lassen", "ausrollen"],
        ),
        (
            "Rolle auf Produktion aus, aber lass vorher die Tests laufen",
            &["lass die Tests laufen", "Rolle auf Produktion aus"],
        ),
        (
            "Öffne einen Pull Request, nachdem du den Branch gepusht hast",
            &["den Branch gepusht hast", "Öffne einen Pull Request"],
        ),
        ("先运行测试，然后部署", &["运行测试", "部署"]),
        (
            "部署到生产环境，但先跑一遍测试",
            &["跑一遍测试", "部署到生产环境"],
        ),
        ("执行迁移之前先备份数据库", &["备份数据库", "执行迁移"]),
        ("推送分支之后创建合并请求", &["推送分支", "创建合并请求"]),
        (
            "Lance les tests, puis déploie l'application",
            &["Lance les tests", "déploie l'application"],
        ),
        (
            "Ejecuta las pruebas y luego publica el paquete",
            &["Ejecuta las pruebas", "publica el paquete"],
        ),
    ];
    for (prompt, wanted) in cases {
        assert_eq!(meant(prompt), *wanted, "{prompt}");
    }
}

#[test]
fn one_intent_stays_whole() {
    for prompt in [
        "Create or rename a branch for the login page",
        "Compare old.txt and new.txt",
        "Send a mail to Anna and Tom about the meeting",
        "Translate 'black and white' into Spanish",
        "What is the weather like in Berlin and Hamburg tomorrow?",
        "Zeig alle Branches, die noch nicht gemerged sind",
        "Prüfe Rechtschreibung und Grammatik dieses Textes",
        "给安娜和汤姆发一封关于会议的邮件",
        "把 src 和 docs 两个文件夹打包成一个压缩包",
        "检查这段文字的拼写和语法",
        "commit",
    ] {
        assert!(
            Reading::of(prompt).parts.is_empty(),
            "{prompt}: {:?}",
            meant(prompt)
        );
    }
}

#[test]
fn a_fragment_shares_the_verb_and_a_lone_verb_the_object() {
    assert_eq!(
        meant("Create a hiring scorecard and a product requirements document"),
        [
            "Create a hiring scorecard",
            "Create a product requirements document"
        ]
    );
    assert_eq!(
        meant("lint and format the code"),
        ["lint the code", "format the code"]
    );
    assert_eq!(meant("查找并替换文字"), ["查找文字", "替换文字"]);
    let reading = Reading::of("Search and replace 'x' by 'y'");
    assert_eq!(reading.parts[0].form, Form::Bare);
}

#[test]
fn parts_are_bounded() {
    let many = "run the tests, then ".repeat(200) + "deploy";
    let reading = Reading::of(&many);
    assert_eq!(reading.parts.len(), MAX_PARTS);
    let long = format!("run the tests, then {}", "x".repeat(100_000));
    let reading = Reading::of(&long);
    assert_eq!(
        reading.parts.last().map(|part| part.span.end),
        Some(long.len())
    );
}

proptest! {
    /// Whatever the text, its parts lie in it one after another and each has its place in the
    /// order.
    #[test]
    fn spans_lie_in_the_text(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "run", "the tests", "and", "then", ",", ".", "don't", "not", "before", "you", "\"", "'", "(",
                "danach", "und", "nicht", "kein", "sondern", "先", "然后", "不要", "提交", "，", "。", "并", "\n", "1.",
                "https://x.y/a,b", "ß", "🧹", "İ", "٣", "しないで", "before that", "first", "instead of",
            ]),
            0..24,
        ),
        joined in any::<bool>(),
    ) {
        let text = words.join(if joined { "" } else { " " });
        let reading = Reading::of(&text);
        let mut end = 0;
        for part in &reading.parts {
            prop_assert!(part.span.start >= end && part.span.end <= text.len());
            prop_assert!(text.get(part.span.clone()).is_some());
            prop_assert!(!part.text.trim().is_empty());
            end = part.span.end;
        }
        let mut order = reading.order();
        order.sort_unstable();
        prop_assert!(order.into_iter().eq(0..reading.parts.len()));
        prop_assert_eq!(Reading::of(&text), reading);
    }

    /// Nothing panics on any characters.
    #[test]
    fn any_text_is_read(text in "\\PC{0,80}") {
        let _ = Reading::of(&text);
    }
}
