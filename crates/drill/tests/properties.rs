//! Properties of the parser and of drills: any text has a result, and what is printed is read again as the same.

use drill::{
    Call, Direction, Event, Flags, Options, Packet, Place, Script, Setting, Shell, TcpOption, What, When,
};
use proptest::prelude::*;
use units::Duration;

fn time() -> impl Strategy<Value = Duration> + Clone {
    (0u64..100_000_000_000).prop_map(Duration::from_nanos)
}

fn when() -> impl Strategy<Value = When> {
    let range = (time(), time()).prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![
        Just(When::Any),
        time().prop_map(When::At),
        time().prop_map(When::After),
        range.clone().prop_map(|(a, b)| When::Between(a, b)),
        range.clone().prop_map(|(a, b)| When::AfterBetween(a, b)),
        range.clone().prop_map(|(a, b)| When::Blocks(a, b)),
        range.prop_map(|(a, b)| When::AfterBlocks(a, b)),
    ]
}

fn tcp_option() -> impl Strategy<Value = TcpOption> {
    let block = (0u64..1_000_000, 1u64..100_000).prop_map(|(start, len)| (start, start + len));
    prop_oneof![
        any::<u16>().prop_map(TcpOption::Mss),
        Just(TcpOption::Nop),
        (0u8..=14).prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        prop::collection::vec(block, 1..=4).prop_map(TcpOption::Sack),
        (any::<u32>(), any::<u32>()).prop_map(|(value, echo)| TcpOption::TimeStamps(value, echo)),
        any::<u32>().prop_map(|bytes| TcpOption::AccEcn(vec![("ceb".to_owned(), bytes)])),
    ]
}

fn packet() -> impl Strategy<Value = Packet> {
    let flags = (any::<[bool; 5]>(), 0u8..8).prop_map(|([fin, syn, psh, ack, urg], ace)| Flags {
        fin,
        syn,
        psh,
        ack,
        urg,
        ace,
        rst: false,
    });
    let mark = prop::sample::select(vec!["ect0", "ect1", "ce", "noecn"]);
    (
        prop::option::of(mark),
        flags,
        (0u64..1_000_000, 0u64..100_000),
        prop::option::of(0u64..1_000_000),
        prop::option::of(any::<u32>()),
        prop::option::of(prop::collection::vec(tcp_option(), 0..4)),
    )
        .prop_map(|(mark, flags, (start, len), ack, window, options)| Packet {
            marks: mark.into_iter().map(str::to_owned).collect(),
            flags,
            start,
            end: start + len,
            ack,
            window,
            options,
        })
}

fn what() -> impl Strategy<Value = What> {
    let direction = prop::sample::select(vec![Direction::In, Direction::Out]);
    let call = prop_oneof![
        (0i64..50_000).prop_map(|n| (
            "write",
            vec!["4".to_owned(), "...".to_owned(), n.to_string()],
            Some(n)
        )),
        Just(("accept", vec!["3".to_owned(), "...".to_owned(), "...".to_owned()], Some(4))),
        Just(("close", vec!["4".to_owned()], Some(0))),
        Just(("poll", vec!["[{fd=4, events=POLLIN}]".to_owned(), "1".to_owned()], None)),
    ];
    let code = prop::sample::select(vec![
        " assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd ",
        "\nx = 3\nassert x < 4 and not (x == 2)\n",
        " print(tcpi_rtt) ",
    ]);
    prop_oneof![
        4 => (direction, packet()).prop_map(|(direction, packet)| What::Packet(direction, packet)),
        2 => call.prop_map(|(name, arguments, result)| {
            What::Call(Call { name: name.to_owned(), arguments, result, error: None })
        }),
        1 => code.prop_map(|text| What::Code(text.to_owned(), Vec::new())),
        1 => Just(What::Shell(Shell { place: Place::default(), text: "sysctl -q net.ipv4.tcp_sack=1".to_owned() })),
    ]
}

fn script() -> impl Strategy<Value = Script> {
    let option = (1u32..100_000).prop_map(|usecs| Setting {
        place: Place::default(),
        name: "tolerance_usecs".to_owned(),
        value: usecs.to_string(),
    });
    let event = (when(), what()).prop_map(|(when, what)| Event { place: Place::default(), when, what });
    (prop::collection::vec(option, 0..2), prop::collection::vec(event, 0..12))
        .prop_map(|(options, events)| Script { options, head: Vec::new(), events })
}

/// Without places and read statements, which printed scripts do not have.
fn bare(mut script: Script) -> Script {
    for option in &mut script.options {
        option.place = Place::default();
    }
    for event in &mut script.events {
        event.place = Place::default();
        match &mut event.what {
            What::Code(_, statements) => statements.clear(),
            What::Shell(shell) => shell.place = Place::default(),
            _ => {}
        }
    }
    script
}

const OPENING: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = 0\n\
    +0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n+0 > S. 0:0(0) ack 1 <...>\n\
    +.1 < . 1:1(0) ack 1 win 1000\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 30000) = 30000\n";

proptest! {
    /// A script that is printed and read is the same.
    #[test]
    fn a_printed_script_is_read_as_the_same(script in script()) {
        let text = script.to_string();
        let read = drill::parse(&text).map_err(|problem| TestCaseError::fail(format!("{problem}\n{text}")))?;
        prop_assert_eq!(bare(read), script);
    }

    /// Any events after an opening have a report, and no panic.
    #[test]
    fn any_events_have_a_report(script in script()) {
        let events: Vec<_> = script.events.iter().map(|event| format!("{} {}\n", event.when, event.what)).collect();
        if let Ok(script) = drill::parse(&format!("{OPENING}{}", events.concat())) {
            let report = drill::drill(&script, &Options::default());
            prop_assert!(report.lines.len() <= script.events.len());
        }
    }

    /// Any text is read or refused.
    #[test]
    fn any_text_has_a_result(text in "\\PC{0,200}") {
        let _ = drill::parse(&text);
    }

    /// Any text of the language's words is read or refused, and what is read has a report.
    #[test]
    fn any_words_have_a_result(
        words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..60)
    ) {
        if let Ok(script) = drill::parse(&format!("{OPENING}{}", words.join(" "))) {
            drill::drill(&script, &Options::default());
        }
    }

    /// A script with a letter removed, doubled or replaced is read or refused.
    #[test]
    fn any_mistake_has_a_result(at in 0usize..OPENING.len(), how in 0u8..3, letter in any::<char>()) {
        let mut text = OPENING.to_owned();
        let old = text.remove(at);
        match how {
            0 => {}
            1 => text.insert_str(at, &format!("{old}{old}")),
            _ => text.insert(at, letter),
        }
        if let Ok(script) = drill::parse(&text) {
            drill::drill(&script, &Options::default());
        }
    }
}

const WORDS: [&str; 44] = [
    "\n",
    "\n+0",
    "\n+.1",
    "*",
    "0.5~0.6",
    "+0...0.1",
    "<",
    ">",
    "S",
    "S.",
    ".",
    "P.",
    "F.",
    "R",
    "E.",
    "W.",
    ".5",
    "1:1(0)",
    "1:1001(1000)",
    "0:0(0)",
    "4294967295:4294967295(0)",
    "ack 1",
    "ack 4294967295",
    "ack 5001",
    "win 0",
    "win 257",
    "win 4294967295",
    "<sack 1001:2001,nop,nop>",
    "<sack 1:1001>",
    "<...>",
    "<mss 1000>",
    "<nop,nop,TS val 1 ecr 4294967295>",
    "write(4, ..., 5000) = 5000",
    "close(4) = 0",
    "%{ assert",
    "tcpi_snd_cwnd",
    "== 10",
    "and not (",
    ")",
    "}%",
    "`sysctl",
    "tcp_ecn=1`",
    "[ce]",
    "// x",
];
