//! Every kind of file that a scenario names, as other systems and programs save it: the bytes differ, and what they say
//! does not.

use std::fs;
use std::path::PathBuf;

use lab::{Problems, Scenario};

/// A kind of file.
struct Kind {
    file: &'static str,
    /// The scenario that names it.
    scenario: String,
    text: &'static str,
    /// Whether lines that begin with `#` say nothing.
    comments: bool,
}

/// A scenario of one TCP flow over a dumbbell, whose bottleneck and flow have these keys.
fn dumbbell(bottleneck: &str, flow: &str) -> String {
    format!(
        "duration = \"4 s\"\n[topology]\nkind = \"dumbbell\"\nbottleneck = {{ delay = \"5 ms\", {bottleneck} }}\n\
         [[flows]]\nname = \"f\"\n{flow}\n"
    )
}

fn kinds() -> Vec<Kind> {
    let rate = "rate = \"10 Mbit/s\"";
    let traced = |file: &str| dumbbell(&format!("trace = \"./{file}\""), "scheme = \"reno\"");
    let flow = |flow: &str| dumbbell(rate, flow);
    let row = |file, scenario, text| Kind { file, scenario, text, comments: true };
    let graph = "duration = \"1 s\"\n[topology]\nkind = \"graphml\"\nfile = \"net.graphml\"\ndelay_by_distance = true\n\
                 [[flows]]\nname = \"f\"\nscheme = \"reno\"\nfrom = \"São_Paulo\"\nto = \"Lima\"\n";
    vec![
        row("up", traced("up"), "1\n2\n3\n10\n"),
        row("cooked", traced("cooked"), "0\t1\n1.5\t2.5\n2\t0.5\n"),
        row("rates.csv", traced("rates.csv"), "0,1 Mbit/s,5 ms\n1.5,2.5 Mbit/s,7 ms\n2,,\n"),
        row("head.csv", traced("head.csv"), "time_s,rate_bps\n0,1000000\n1.5,2500000\n2,0\n"),
        row(
            "cdf.txt",
            flow("scheme = \"reno\"\narrivals = { rate = 20, sizes = \"cdf.txt\" }"),
            "0 0\n10000 0.25\n50000 1\n",
        ),
        row(
            "flows.csv",
            flow("scheme = \"reno\"\narrivals = { file = \"flows.csv\" }"),
            "0.5,20000\n1.25,3000\n",
        ),
        row(
            "ends.csv",
            flow("scheme = \"reno\"\narrivals = { file = \"ends.csv\" }"),
            "start_s,from,to,bytes\n0.5,left1,right1,20000\n1.25,right1,left1,3000\n",
        ),
        row(
            "frames.txt",
            flow("scheme = \"tfrc\"\nsource = { kind = \"trace\", file = \"frames.txt\" }"),
            "0 I 5000\n1 P 700\n2 B 300\n",
        ),
        row(
            "page.csv",
            flow("scheme = \"reno\"\napp = { kind = \"page\", file = \"page.csv\" }"),
            "bytes,delay_ms,after\n1000\n200,5\n300,0.5,1 2\n",
        ),
        Kind { comments: false, ..row("net.graphml", graph.to_owned(), GRAPH) },
    ]
}

const GRAPH: &str = "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
    <key attr.name=\"label\" id=\"d0\"/><key attr.name=\"lat\" id=\"d1\"/><key attr.name=\"lon\" id=\"d2\"/><key attr.name=\"LinkSpeedRaw\" id=\"d3\"/>\n\
    <graph>\n<node id=\"0\"><data key=\"d0\">São Paulo</data>\n<data key=\"d1\">-23.55</data><data key=\"d2\">-4.663e1</data></node>\n\
    <node id=\"1\"><data key=\"d0\">Lima</data>\n<data key=\"d1\">-12.05</data><data key=\"d2\">-77.04</data></node>\n\
    <edge source=\"0\" target=\"1\"><data key=\"d3\">1e7</data></edge>\n</graph></graphml>\n";

/// Loads the scenario of `kind`, beside a file of these bytes.
fn load(kind: &Kind, name: &str, bytes: &[u8]) -> Result<Scenario, Problems> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("text_files").join(kind.file).join(name);
    fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    fs::write(folder.join(kind.file), bytes).expect("the folder was made");
    lab::load(&kind.scenario, folder.join("test.toml").to_str().expect("paths are UTF-8"))
}

/// All that is run.
fn plan(scenario: &Scenario) -> String {
    format!("{:?}", scenario.plan(None).expect("loaded means planned").blueprint)
}

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn every_file_is_read_as_any_system_saves_it() {
    for kind in kinds() {
        let plain = load(&kind, "plain", kind.text.as_bytes())
            .unwrap_or_else(|error| panic!("{}: {error}", kind.file));
        let expected = plan(&plain);
        let marked = format!("\u{feff}{}", kind.text);
        let ends = |end: &str| kind.text.replace('\n', end).into_bytes();
        let mut variants = vec![
            ("mark", marked.clone().into_bytes()),
            ("crlf", ends("\r\n")),
            ("cr", ends("\r")),
            ("marked crlf", marked.replace('\n', "\r\n").into_bytes()),
            ("marked cr", marked.replace('\n', "\r").into_bytes()),
            ("utf-16 le", utf16(&marked, u16::to_le_bytes)),
            ("utf-16 be", utf16(&marked.replace('\n', "\r\n"), u16::to_be_bytes)),
            ("no last end", kind.text.trim_end().as_bytes().to_vec()),
            ("empty lines", ends("\n\n \n")),
            ("spaces", ends(" \n ")),
        ];
        if kind.comments {
            variants.push((
                "comment",
                format!("\u{feff}# a comment\r\n{}\r\n# another\r\n", kind.text).into_bytes(),
            ));
        }
        for (name, bytes) in variants {
            let read =
                load(&kind, name, &bytes).unwrap_or_else(|error| panic!("{} {name}: {error}", kind.file));
            assert!(plan(&read) == expected, "{} {name}", kind.file);
            assert_eq!(read.warnings().count(), plain.warnings().count(), "{} {name}", kind.file);
        }
    }
}

#[test]
fn a_file_that_is_no_text_is_refused_by_its_name() {
    for kind in kinds() {
        for (name, bytes, word) in [
            ("nul", [kind.text.as_bytes(), b"\0\n"].concat(), "NUL"),
            ("no mark", utf16(kind.text, u16::to_le_bytes), "NUL"),
            ("latin-1", [kind.text.as_bytes(), b"\xe9"].concat(), "not UTF-8"),
            ("half a character", [b"\xff\xfe\x00\xd8".as_slice(), b"\x31"].concat(), "not UTF-16"),
            ("gzip", b"\x1f\x8b\x08\0".to_vec(), "gzip"),
            ("xlsx", b"PK\x03\x04\x14\0".to_vec(), "spreadsheet"),
            ("parquet", b"PAR1\x15\0".to_vec(), "Parquet"),
            ("empty", Vec::new(), kind.file),
            ("a mark alone", b"\xef\xbb\xbf".to_vec(), kind.file),
        ] {
            let refused = load(&kind, name, &bytes).err().unwrap_or_else(|| panic!("{} {name}", kind.file));
            let message = &refused.first().message;
            assert!(message.contains(kind.file) && message.contains(word), "{} {name}: {message}", kind.file);
            assert!(refused.first().hint.is_some(), "{} {name}", kind.file);
        }
    }
}

#[test]
fn what_cannot_be_seen_in_a_file_is_seen_in_the_message() {
    for kind in kinds().iter().filter(|kind| kind.comments) {
        for (hidden, shown) in [('\u{200b}', "\\u{200b}"), ('\u{2060}', "\\u{2060}"), ('\u{7}', "\\u{7}")] {
            // in the last line, whose columns are numbers
            let at = kind.text.trim_end().rfind('\n').expect("several lines") + 1;
            let text = format!("{}{hidden}{}", &kind.text[..at], &kind.text[at..]);
            let refused =
                load(kind, "hidden", text.as_bytes()).err().unwrap_or_else(|| panic!("{}", kind.file));
            let message = &refused.first().message;
            assert!(message.contains(shown) && !message.contains(hidden), "{}: {message}", kind.file);
            assert!(message.contains("line "), "{}: {message}", kind.file);
        }
    }
}

/// One value of a file in other notations; the first is that of the plan.
#[test]
fn numbers_are_written_in_several_ways() {
    let notations: &[(&str, &str, &[&str])] = &[
        ("up", "10\n", &["1e1\n", "10.0\n", "+10\n", "010\n", "1.0E+01\n"]),
        ("cooked", "2.5", &["25e-1", "2.50", "+2.5"]),
        ("rates.csv", "1.5,", &["15e-1,", "1.50,", "1500 ms,", "1.5 s,"]),
        ("rates.csv", "2.5 Mbit/s", &["2500 kbit/s", "2.5e6 bit/s"]),
        ("head.csv", "2500000", &["2.5e6", "2.5E+06", "2500000.0"]),
        ("cdf.txt", "10000 0.25", &["1e4 0.25", "1.0E+04\t25e-2", "10000;0.25", "\"10000\",\"0.25\""]),
        ("cdf.txt", " 1\n", &[" 0.99999999\n", " 1.0000001\n", " 1e0\n"]),
        (
            "flows.csv",
            "0.5,20000",
            &["5e-1,2e4", "500 ms,20 kB", "0.5;20000", "0.5\t20000.0", "\"0.5\",\"20000\""],
        ),
        (
            "ends.csv",
            "start_s,from,to,bytes\n0.5,left1,right1,20000\n1.25",
            &[
                "start_ms,from,to,size\n500,left1,right1,20000\n1250",
                "Time (s),src,dst,Bytes\n5e-1,left1,right1,2e4\n1.25",
            ],
        ),
        ("ends.csv", "20000", &["2e4", "20 kB"]),
        // columns stand where the heading says, in the units that it says
        (
            "ends.csv",
            "start_s,from,to,bytes\n0.5,left1,right1,20000\n1.25,right1,left1,3000",
            &[
                "time,dst,src,bytes\n0.5,right1,left1,20000\n1.25,left1,right1,3000",
                "size_kB;receiver;sender;start_ms\n20;right1;left1;500\n3;left1;right1;1250",
                "source,destination,Size (bits),time_s\nleft1,right1,160000,0.5\nright1,left1,24000,1.25",
            ],
        ),
        (
            "head.csv",
            "time_s,rate_bps\n0,1000000\n1.5,2500000\n2,0",
            &[
                "rate_Bps,time_s\n125000,0\n312500,1.5\n0,2",
                "Time (ms);Rate (kB/s)\n0;125\n1500;312.5\n2000;",
                "time_s\tMBps\n0\t0.125\n1.5\t0.3125\n2\t",
            ],
        ),
        ("cdf.txt", "0 0\n10000 0.25\n50000 1", &["cdf,size_kB\n0,0\n0.25,10\n1,50"]),
        (
            "frames.txt",
            "0 I 5000\n1 P 700\n2 B 300",
            &["number type size_kB\n0 I 5\n1 P 0.7\n2 B 0.3", "type,Size (bits)\nI,40000\nP,5600\nB,2400"],
        ),
        (
            "page.csv",
            "bytes,delay_ms,after\n1000\n200,5\n300,0.5,1 2",
            &["after,delay_us,size_kB\n,,1\n,5000,0.2\n1 2,500,0.3"],
        ),
        ("frames.txt", "700", &["7e2", "700.0", "0.7kB"]),
        ("page.csv", "300,0.5", &["3e2,5e-1", "0.3 kB,500 us"]),
        ("net.graphml", "1e7", &["10000000", "10000000.0", "+1E+7"]),
    ];
    for kind in kinds() {
        let expected =
            plan(&load(&kind, "plain", kind.text.as_bytes()).unwrap_or_else(|error| panic!("{error}")));
        for (_, plain, others) in notations.iter().filter(|row| row.0 == kind.file) {
            assert!(kind.text.contains(plain), "{}: {plain}", kind.file);
            for other in *others {
                let text = kind.text.replacen(plain, other, 1);
                let read = load(&kind, "other", text.as_bytes())
                    .unwrap_or_else(|error| panic!("{}: {error}", kind.file));
                assert!(plan(&read) == expected, "{}: {other}", kind.file);
            }
        }
        if kind.comments {
            for wrong in ["nan", "inf", "-5", "1_0", "0x10", "−5", "1e", "--5"] {
                let at = kind.text.trim_end().rfind('\n').expect("several lines") + 1;
                let rest = kind.text[at..]
                    .find(|c: char| !(c.is_ascii_digit() || c == '.'))
                    .expect("the number ends");
                let text = format!("{}{wrong}{}", &kind.text[..at], &kind.text[at + rest..]);
                let refused = load(&kind, "wrong", text.as_bytes());
                assert!(refused.is_err(), "{}: {wrong}", kind.file);
            }
        }
    }
}

/// Headings that say one column twice, or in an invalid unit.
#[test]
fn a_heading_that_is_not_clear_is_refused_with_its_line() {
    let headings = [
        ("ends.csv", "start_s,src,src,bytes"),
        ("ends.csv", "start_s,dst,to,bytes"),
        ("ends.csv", "start_s,from,to,size_packets"),
        ("head.csv", "time_s,time_ms"),
        ("head.csv", "time_s,rate_packets"),
        ("page.csv", "bytes,size_kB,after"),
        ("cdf.txt", "size,bytes"),
        ("frames.txt", "number,type,size_packets"),
    ];
    for kind in kinds() {
        for (_, heading) in headings.iter().filter(|row| row.0 == kind.file) {
            let rows = kind.text.trim_start_matches(|c: char| c != '\n' && !c.is_ascii_digit());
            let text = format!("{heading}\n{}", rows.trim_start());
            let refused =
                load(&kind, "heading", text.as_bytes()).err().unwrap_or_else(|| panic!("{heading}"));
            assert!(refused.first().message.contains("line 1 "), "{heading}: {refused}");
            assert!(refused.first().hint.is_some(), "{heading}");
        }
    }
}
