//! Tests of marks on packets for programs, and on links with marking.

use super::*;

/// Marks on departing packets, per millisecond, at a given backlog: Data that `to` requested.
fn marks(bench: &mut Bench, to: Peer, waiting: u64, span: std::ops::Range<u64>) -> Vec<u64> {
    bench.left.1 = waiting;
    let mut marked = Vec::new();
    for millis in span {
        let (name, now) = (format!("/a/{millis}"), at(millis));
        bench.give(to, &add_downstream(&name, millis as u32), now);
        let messages = bench.give(host(1), &data(&name), now);
        let [SentMessage::Data { to: there, mark, .. }] = messages[..] else { panic!("{messages:?}") };
        assert_eq!(there, to);
        marked.extend((mark > 0).then_some(millis));
    }
    marked
}

#[test]
fn what_a_program_does_not_read_marks_what_follows() {
    let mut bench = Bench::new(settings());
    assert_eq!(marks(&mut bench, PROGRAM, 65_536, 1..300), Vec::<u64>::new(), "so much may wait");
    assert_eq!(marks(&mut bench, PROGRAM, 65_537, 300..600), [400, 471, 529, 579]);
    assert_eq!(marks(&mut bench, PROGRAM, 0, 600..610), Vec::<u64>::new());
    assert_eq!(marks(&mut bench, PROGRAM, 70_000, 610..720), [710], "a new queue has an interval again");
    let ports = bench.node.stats().ports;
    let marked: Vec<(&str, u64)> =
        ports.iter().map(|port| (port.name.as_str(), port.counts.marked)).collect();
    assert_eq!(marked, [("link1", 0), ("link2", 0), ("program 1", 5)]);
}

#[test]
fn marks_can_be_left_out_and_come_elsewhere() {
    let mut bench = Bench::new(Settings { program_marks: None, ..settings() });
    assert_eq!(marks(&mut bench, PROGRAM, 1 << 20, 1..400), Vec::<u64>::new());
    let above = MarkSettings { above: Bytes::new(1000), interval: Duration::from_millis(20) };
    let mut bench = Bench::new(Settings { program_marks: Some(above), ..settings() });
    assert_eq!(marks(&mut bench, PROGRAM, 1001, 1..60), [21, 36, 47, 57]);
    assert_eq!(
        marks(&mut bench, host(2), 1 << 20, 60..200),
        Vec::<u64>::new(),
        "a link marks when it is told to"
    );
}

#[test]
fn a_mark_from_further_up_stays_and_is_not_counted_here() {
    let mut bench = Bench::new(settings());
    bench.left.1 = 1 << 20;
    bench.give(PROGRAM, &add_downstream("/a/x", 1), at(0));
    let marked = LinkHeader { mark: 1, ..LinkHeader::default() };
    let messages = bench.give(host(1), &data_with("/a/x", 0, marked), at(1));
    assert!(matches!(messages[..], [SentMessage::Data { mark: 1, .. }]), "{messages:?}");
    assert_eq!(bench.node.stats().ports[2].counts.marked, 0);
}

#[test]
fn refusals_and_interests_take_marks_too() {
    let mut bench = Bench::new(settings());
    bench.left.1 = 1 << 20;
    bench.give(PROGRAM, &add_downstream("/c", 1), at(0));
    bench.node.on_frame(PROGRAM, &add_downstream("/c", 2), at(150), &mut bench.left);
    let (_, frame) = bench.left.0.pop().expect("it is refused");
    let header = LinkPacket::read(&frame).expect("a link packet").header;
    assert_eq!((header.nack, header.mark), (Some(Reason(150)), 1));
}

#[test]
fn a_link_marks_by_the_bytes_that_wait_in_its_queue() {
    // about 84 bytes: 1 Mbit/s take 0.7 ms per packet
    let marked = MarkSettings { above: Bytes::new(4000), interval: Duration::from_millis(20) };
    let slow = LinkSettings { marks: Some(marked), ..known(2, Rate::from_mbps(1)) };
    let links = vec![known(1, Rate::UNLIMITED), slow];
    let mut bench = Bench::new(Settings { links, routes: vec![route("/a", 0)], ..settings() });
    for n in 0..400u32 {
        let name = format!("/a/{n}");
        bench.node.on_frame(host(2), &add_downstream(&name, n), at(0), &mut bench.left);
        bench.node.on_frame(host(1), &data(&name), at(0), &mut bench.left);
    }
    for millis in 1..400 {
        bench.node.on_time(at(millis), &mut bench.left);
    }
    let sizes: Vec<(usize, bool)> = bench
        .left
        .0
        .iter()
        .filter(|(to, _)| *to == host(2))
        .map(|(_, frame)| (frame.len(), LinkPacket::read(frame).expect("a link packet").header.mark > 0))
        .collect();
    assert_eq!(sizes.len(), 400);
    let marks: Vec<usize> = (0..400).filter(|place| sizes[*place].1).collect();
    // none in the first interval, and none once the backlog is below the limit
    assert!(marks.len() > 10 && marks[0] > 20, "{marks:?}");
    let last = marks.last().copied().unwrap_or_default();
    let behind: usize = sizes[last + 1..].iter().map(|(length, _)| length + 28).sum();
    assert!(behind > 4000, "{behind} bytes waited behind the last mark");
    assert!(!sizes[360..].iter().any(|(_, marked)| *marked));
    assert_eq!(bench.node.stats().ports[1].counts.marked, marks.len() as u64);
}
