//! Hints for values that are not what the key takes: the text that they suggest is accepted, and means what was most
//! likely meant.

use std::sync::Arc;

use lab::{Plan, Problems};

fn load(bottleneck: &str, flow: &str) -> Result<Arc<Plan>, Problems> {
    let text = format!(
        "[topology]\nkind = \"dumbbell\"\nbottleneck = {{ {bottleneck} }}\n[[flows]]\nname = \"f\"\n{flow}\n"
    );
    lab::load(&text, "test.toml").map(|scenario| scenario.plan(None).expect("loaded means planned"))
}

/// The hint about a key of the bottleneck, of which other keys are right.
fn hint(key: &str, value: &str) -> String {
    let others =
        [("rate", "\"10 Mbit/s\""), ("delay", "\"10 ms\"")].into_iter().filter(|(other, _)| *other != key);
    let keys: Vec<String> =
        others.chain([(key, value)]).map(|(key, value)| format!("{key} = {value}")).collect();
    let diagnostics = load(&keys.join(", "), "scheme = \"reno\"").expect_err(value);
    assert_eq!(diagnostics.count(), 1, "{key} = {value}: {diagnostics}");
    diagnostics.first().hint.clone().unwrap_or_default()
}

#[test]
fn a_number_as_text_gets_the_number() {
    for (value, number) in [
        ("1%", "0.01"),
        ("0.01", "0.01"),
        (" 2.5 % ", "0.025"),
        ("100%", "1"),
        ("0.1%", "0.001"),
        ("1e-3", "0.001"),
        ("1 percent", "0.01"),
        ("1/100", "0.01"),
    ] {
        assert_eq!(hint("loss", &format!("\"{value}\"")), format!("write it as {number}"), "{value}");
        assert!(
            load(&format!("rate = \"10 Mbit/s\", delay = \"10 ms\", loss = {number}"), "scheme = \"reno\"")
                .is_ok()
        );
    }
    for value in ["much", "%", "nan", "1%%"] {
        assert_eq!(hint("loss", &format!("\"{value}\"")), "write it as 0.5", "{value}");
    }
    assert!(hint("mark_above", "\"30\"").contains("30"));
    let count = load("rate = \"10 Mbit/s\", delay = \"10 ms\"", "scheme = \"reno\"\ncount = \"3\"")
        .expect_err("a text");
    assert_eq!(count.first().hint.as_deref(), Some("write it as 3"));
    let count = load("rate = \"10 Mbit/s\", delay = \"10 ms\"", "scheme = \"reno\"\ncount = 3.0")
        .expect_err("a float");
    assert_eq!(count.first().hint.as_deref(), Some("write it as 3"));
    for (value, switch) in
        [("\"yes\"", "true"), ("\"true\"", "true"), ("\"off\"", "false"), ("1", "true"), ("0", "false")]
    {
        let flow = format!("scheme = \"reno\"\ntcp = {{ sack = {value} }}");
        let diagnostics = load("rate = \"10 Mbit/s\", delay = \"10 ms\"", &flow).expect_err(value);
        assert_eq!(
            diagnostics.first().hint.as_deref(),
            Some(format!("write it as {switch}").as_str()),
            "{value}"
        );
    }
}

#[test]
fn a_rate_without_a_unit_gets_the_unit_of_its_size() {
    for (value, unit) in [
        ("10000000", "bit/s"),
        ("\"10000000\"", "bit/s"),
        ("1e9", "bit/s"),
        ("10", "Mbit/s"),
        ("\"0.5\"", "Mbit/s"),
    ] {
        let written = value.trim_matches('"');
        assert!(
            hint("rate", value).ends_with(&format!("such as \"{written} {unit}\"")),
            "{value}: {}",
            hint("rate", value)
        );
    }
    for (value, number) in
        [("10,5 Mbit/s", "decimal point"), ("1,000 Mbit/s", "write 1000 "), ("1,000,000 bit/s", "1000000")]
    {
        assert!(hint("rate", &format!("\"{value}\"")).contains(number), "{value}");
    }
    assert!(hint("buffer", "\"10,5 kB\"").contains("decimal point"));
    assert!(hint("delay", "0.02").ends_with("such as \"0.02 s\""));
    assert!(hint("delay", "20").ends_with("such as \"20 ms\""));
}

#[test]
fn disciplines_of_other_programs_are_known() {
    for name in [
        "DropTail",
        "droptail",
        "drop_tail",
        "drop-tail",
        "TailDrop",
        "pfifo",
        "bfifo",
        "pfifo_fast",
        "FIFO",
        "none",
    ] {
        assert!(hint("queue", &format!("\"{name}\"")).contains("`fifo`"), "{name}");
        assert!(hint("queue", &format!("{{ kind = \"{name}\" }}")).contains("`fifo`"), "{name}");
    }
    for (name, key) in [
        ("tbf", "shaper"),
        ("HTB", "shaper"),
        ("hfsc", "shaper"),
        ("netem", "impair"),
        ("police", "policer"),
        ("drr", "classes"),
        ("fqcodel", "fq_codel"),
        ("FQ-CoDel", "fq_codel"),
    ] {
        assert!(
            hint("queue", &format!("\"{name}\"")).contains(&format!("`{key}`")),
            "{name}: {}",
            hint("queue", &format!("\"{name}\""))
        );
    }
}

#[test]
fn keys_in_the_hints_about_disciplines_are_accepted() {
    for name in ["tbf", "netem", "police", "drr"] {
        let hint = hint("queue", &format!("\"{name}\""));
        let (_, keys) = hint.split_once(": ").expect("an example");
        let link = format!("rate = \"10 Mbit/s\", delay = \"10 ms\", {keys}");
        load(&link, "scheme = \"reno\"").unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_buffer_without_a_limit_gets_a_large_one() {
    for value in ["unlimited", "infinite", "inf", "none"] {
        assert!(hint("buffer", &format!("\"{value}\"")).contains("1000000 packets"), "{value}");
    }
    assert!(
        load("rate = \"10 Mbit/s\", delay = \"10 ms\", buffer = \"1000000 packets\"", "scheme = \"reno\"")
            .is_ok()
    );
}

#[test]
fn schemes_with_tcp_in_their_name_are_found() {
    for name in ["reno", "cubic", "vegas", "bbr", "westwood", "hybla"] {
        for written in [
            format!("tcp_{name}"),
            format!("tcp-{name}"),
            format!("TCP {name}"),
            format!("{name}_tcp"),
            format!("Tcp{name}"),
        ] {
            let flow = format!("scheme = \"{written}\"");
            let diagnostics = load("rate = \"10 Mbit/s\", delay = \"10 ms\"", &flow).expect_err(&written);
            assert_eq!(diagnostics.first().hint, Some(format!("did you mean `{name}`?")), "{written}");
        }
    }
}

#[test]
fn what_cannot_be_seen_in_a_scenario_is_seen_in_the_message() {
    for (value, shown) in [
        ("10\u{a0}Mbit/s", "\\u{a0}"),
        ("10 Mbit/s\u{200b}", "\\u{200b}"),
        ("\u{feff}10 Mbit/s", "\\u{feff}"),
    ] {
        let keys = format!("rate = \"{value}\", delay = \"10 ms\"");
        match load(&keys, "scheme = \"reno\"") {
            // a space of any kind is one
            Ok(_) => assert_eq!(value, "10\u{a0}Mbit/s"),
            Err(diagnostics) => assert!(diagnostics.first().message.contains(shown), "{diagnostics}"),
        }
    }
    let text = "\u{feff}[topology]\r\nkind = \"dumbbell\"\r\nbottleneck = { rate = \"10 Mbit/s\", delay = \"1 ms\" }\r\n[[flows]]\r\nname = \"f\"\r\nscheme = \"reno\"\r\n";
    lab::load(text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    lab::load_bytes(text.as_bytes(), "test.toml").unwrap_or_else(|error| panic!("{error}"));
}

/// An encoder's range and that of a scheme for media: what is not written follows, and what is written counts.
#[test]
fn a_scheme_for_media_has_the_range_of_its_encoder() {
    for scheme in ["nada", "scream", "gcc"] {
        for (encoder, params, low, high, warned) in [
            ("min = \"500 kbit/s\", max = \"200 Mbit/s\"", "", None, Some("200 Mbit/s"), 0),
            ("min = \"10 kbit/s\", max = \"20 Mbit/s\"", "", Some("10 kbit/s"), Some("20 Mbit/s"), 0),
            ("max = \"20 Mbit/s\"", "max_rate = \"3 Mbit/s\"", None, Some("3 Mbit/s"), 1),
            ("min = \"10 kbit/s\"", "min_rate = \"40 kbit/s\"", Some("40 kbit/s"), None, 1),
            ("max = \"1 Mbit/s\"", "", None, None, 0),
        ] {
            let text = format!(
                "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\nbottleneck = {{ rate = \"8 Mbit/s\", delay = \"25 ms\" }}\n\
                 [[flows]]\nname = \"call\"\nscheme = \"{scheme}\"\nencoder = {{ {encoder} }}\nparams = {{ {params} }}\n"
            );
            let read = lab::load(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
            let plan = read.plan(None).expect("loaded means planned");
            let of = |name: &str| {
                plan.blueprint.flows[0]
                    .params
                    .iter()
                    .find(|(key, _)| key == name)
                    .map(|(_, value)| value.to_string())
            };
            for (name, wanted) in [("min_rate", low), ("max_rate", high)] {
                if let (Some(wanted), false) =
                    (wanted, scheme == "gcc" && name == "max_rate" && params.is_empty())
                {
                    // what already contains the encoder's range stays
                    let value = of(name).unwrap_or_else(|| "100 Mbit/s".to_owned());
                    let unchanged = scheme == "scream" && value == "100 Mbit/s" && wanted == "20 Mbit/s";
                    assert!(value == wanted || unchanged, "{scheme} {encoder} {params}: {name} = {value}");
                }
            }
            assert_eq!(read.warnings().count(), warned, "{scheme} {encoder} {params}: {}", read.warnings());
            let again = lab::load(&plan.to_toml(), "plan").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.plan(None).expect("loaded").blueprint, plan.blueprint, "{scheme} {encoder}");
        }
    }
}

/// What is wrong with a scenario of these lines at its top, of its bottleneck and of its flow.
fn refusal(top: &str, bottleneck: &str, flow: &str) -> (String, String) {
    let text = format!(
        "{top}\n[topology]\nkind = \"dumbbell\"\nbottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\" {bottleneck} }}\n\
         [[flows]]\nname = \"f\"\nscheme = \"reno\"\n{flow}\n"
    );
    let diagnostics = lab::load(&text, "test.toml").expect_err(&text);
    assert_eq!(diagnostics.count(), 1, "{diagnostics}");
    (diagnostics.first().message.clone(), diagnostics.first().hint.clone().unwrap_or_default())
}

#[test]
fn a_long_time_without_a_unit_gets_seconds() {
    for (top, flow) in [("duration = 4", ""), ("duration = \"4\"", ""), ("", "start = 4"), ("", "stop = 4.0")]
    {
        let (message, hint) = refusal(top, "", flow);
        assert!(message.contains("has no unit") && hint.contains(" s\""), "{top} {flow}: {message}, {hint}");
    }
}

#[test]
fn a_key_of_another_table_is_sent_there() {
    for (top, bottleneck, flow, hint) in [
        ("scheme = \"reno\"", "", "", "`scheme` belongs to a flow"),
        ("bandwidth = \"1 Mbit/s\"", "", "", "`rate` belongs to a link"),
        ("", ", duration = \"4 s\"", "", "`duration` belongs to the top of the file"),
        ("", ", cc = \"reno\"", "", "`scheme` belongs to a flow"),
        ("", "", "latency = \"4 ms\"", "`delay` belongs to a link"),
        ("", "", "sack = true", "`sack` belongs to tcp = { … } of a flow"),
        ("", ", loss_rate = 0.1", "", "did you mean `loss`?"),
        ("", ", qdisc = \"codel\"", "", "did you mean `queue`?"),
        ("", ", aqm = \"codel\"", "", "did you mean `queue`?"),
        ("", ", buffer_size = \"1 MB\"", "", "did you mean `buffer`?"),
    ] {
        let (_, found) = refusal(top, bottleneck, flow);
        assert!(found.starts_with(hint), "{top} {bottleneck} {flow}: {found}");
    }
    for (renamed, key) in [("bandwidth", "rate"), ("bw", "rate"), ("capacity", "rate"), ("latency", "delay")]
    {
        let value = if key == "rate" { "\"10 Mbit/s\"" } else { "\"10 ms\"" };
        let other = if key == "rate" { "delay = \"10 ms\"" } else { "rate = \"10 Mbit/s\"" };
        let refused = load(&format!("{renamed} = {value}, {other}"), "scheme = \"reno\"").expect_err(renamed);
        assert_eq!(refused.first().hint, Some(format!("did you mean `{key}`?")));
        assert_eq!(refused.count(), 1, "that the key is missing is told once: {refused}");
    }
}

#[test]
fn schemes_of_other_programs_are_known() {
    for (name, word) in [
        ("ledbat++", "`ledbat_pp`"),
        ("new_reno", "`reno`"),
        ("NewReno", "`reno`"),
        ("stcp", "`scalable`"),
        ("tcp", "cubic"),
        ("rack", "loss_detection"),
    ] {
        let refused =
            load("rate = \"1 Mbit/s\", delay = \"1 ms\"", &format!("scheme = \"{name}\"")).expect_err(name);
        assert!(refused.first().hint.as_deref().is_some_and(|hint| hint.contains(word)), "{name}: {refused}");
    }
}

#[test]
fn a_parameter_in_quotation_marks_gets_its_value() {
    for (params, hint) in [
        ("beta = \"0.7\"", "write 0.7, without quotation marks"),
        ("beta = \"70%\"", "write 0.7, without quotation marks"),
        ("beta = \"1/2\"", "write 0.5, without quotation marks"),
        ("fast_convergence = \"false\"", "write false, without quotation marks"),
        ("fast_convergence = 1", "write true"),
    ] {
        let flow = format!("scheme = \"cubic\"\nparams = {{ {params} }}");
        let refused = load("rate = \"1 Mbit/s\", delay = \"1 ms\"", &flow).expect_err(params);
        assert_eq!(refused.first().hint.as_deref(), Some(hint), "{params}");
    }
}

/// An expectation in units of something else.
#[test]
fn an_expectation_is_in_units_of_its_result() {
    let check = |key: &str, relation: &str| {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\nbottleneck = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n\
             [[flows]]\nname = \"f\"\nscheme = \"reno\"\n[expect]\n\"{key}\" = \"{relation}\"\n"
        );
        lab::load(&text, "test.toml").map(drop)
    };
    for (key, right, wrong) in [
        ("flow.f.throughput", ">= 1 kbit/s", ">= 5 ms"),
        ("flow.f.rtt", "< 1 s", "< 5 Mbit/s"),
        ("flow.f.loss_ratio", "<= 5 %", "<= 5 kB"),
        ("flow.f.sent_bytes", "> 1 kB", "1 s .. 2 s"),
        ("flow.f.timeouts", "== 0", "< 5 %"),
        ("flows.throughput_mean", ">= 1 kbit/s", "1 +- 5 %"),
        ("link.bottleneck.utilisation", ">= 5 %", ">= 5 Mbit/s"),
        ("run.measured", ">= 1 ms", ">= 1 B"),
    ] {
        check(key, right).unwrap_or_else(|error| panic!("{key}: {error}"));
        check(key, "0 .. 1e12").unwrap_or_else(|error| panic!("{key}: {error}"));
        let refused = check(key, wrong).expect_err(key);
        assert!(refused.count() == 1 && refused.first().hint.is_some(), "{key}: {refused}");
    }
}

#[test]
fn a_scenario_may_have_any_ends_of_lines() {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n\
                [[flows]]\nname = \"f\"\nscheme = \"rno\"\n";
    for end in ["\n", "\r\n", "\r"] {
        let refused = lab::load(&text.replace('\n', end), "test.toml").expect_err("no such scheme");
        assert_eq!((refused.count(), refused.first().line), (1, 7), "{end:?}: {refused}");
        lab::load(&text.replace("rno", "reno").replace('\n', end), "test.toml")
            .unwrap_or_else(|error| panic!("{error}"));
    }
}
