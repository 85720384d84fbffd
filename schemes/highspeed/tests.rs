//! One test per rule of RFC 3649 and of Linux' tcp_highspeed.c, with numbers worked by hand.

use contract::{Cause, CongestionControl};

use super::control::{Row, table};
use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn highspeed(initial: u64) -> (Bench, Control) {
    with(Params::default(), initial)
}

fn with(params: Params, initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&params, &setup(initial)))
}

/// Acknowledges `packets` segments with one acknowledgement. Returns the window in segments.
fn ack(bench: &mut Bench, controller: &mut Control, packets: u32) -> u64 {
    let mut ack = bench.an_ack(controller);
    (ack.packets, ack.bytes) = (packets, SEGMENT * u64::from(packets));
    bench.deliver_ack(controller, &ack);
    window(controller)
}

/// Acknowledges single segments until the window grows. Returns their number, and the window.
fn until_growth(bench: &mut Bench, controller: &mut Control) -> (u32, u64) {
    let before = window(controller);
    for acks in 1.. {
        let now = ack(bench, controller, 1);
        if now != before {
            return (acks, now);
        }
    }
    unreachable!("the window grows")
}

fn window(controller: &Control) -> u64 {
    controller.allowance().window.as_u64() / 1000
}

/// RFC 3649, appendix B: all rows that Linux has, from the formulas of the RFC.
#[test]
fn the_table_is_that_of_the_rfc_and_of_linux() {
    let vectors: toml::Table = include_str!("vectors.toml").parse().expect("a table");
    let rows = vectors["rows"].as_array().expect("rows");
    let number = |row: &toml::Value, at: usize| row[at].as_integer().expect("a number") as u64;
    let given: Vec<Row> =
        rows.iter().map(|row| Row { window: number(row, 0), decrease: number(row, 1) }).collect();
    assert_eq!(given.len(), 72);
    assert_eq!(&table(&Params::default())[..], given);
    // with the last row of the RFC: 94717, where b is 0.09
    let all = table(&Params { rows: 100, ..Params::default() });
    assert_eq!(all[72].window, 94717);
    assert_eq!((100.0 * all[72].decrease as f64 / 256.0).round(), 9.0);
}

/// The first window with a(w) > 2, computed by the formulas of the RFC in another program: a(w) = 2.009 at 118, where
/// b = 0.441. If b falls to 0.2 only, or at 10⁶ segments only, 111, where b = 0.458; with half of k, 41; with an
/// exponent of 1, 39.
#[test]
fn the_parameters_set_the_table() {
    let row = |params: Params| table(&params)[1].window;
    assert_eq!(row(Params::default()), 118);
    assert_eq!(row(Params { high_decrease: 0.2, ..Params::default() }), 111);
    assert_eq!(row(Params { high_window: 1_000_000, ..Params::default() }), 111);
    assert_eq!(row(Params { response: 6.4, ..Params::default() }), 41);
    assert_eq!(row(Params { exponent: 1.0, ..Params::default() }), 39);
    assert_eq!(table(&Params { low_window: 50, ..Params::default() })[0], Row { window: 50, decrease: 128 });
    assert_eq!(table(&Params { rows: 3, ..Params::default() }).len(), 3);
}

/// tcp_slow_start: a segment for each segment acknowledged: 10 + 1 + 3.
#[test]
fn slow_start_adds_a_segment_for_each_segment_acknowledged() {
    let (mut bench, mut controller) = highspeed(10);
    assert_eq!(ack(&mut bench, &mut controller, 1), 11);
    assert_eq!(ack(&mut bench, &mut controller, 3), 14);
}

/// A loss in slow start takes a half, because the row is the one of the last growth in congestion avoidance:
/// 1200 → 600. There the row is the one of 496 to 663, so that each acknowledgement adds 6: 100 make 601. A loss then
/// takes 89/256: 601 − ⌊208.9⌋ = 393, in the row of 348 to 495, with 5: 79 make 395 ≥ 393, with 2 over, so that 79 more
/// make 2 + 395 ≥ 394.
#[test]
fn increase_and_reduction_are_those_of_the_window() {
    let (mut bench, mut controller) = highspeed(1200);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(window(&controller), 600);
    assert_eq!(until_growth(&mut bench, &mut controller), (100, 601));
    assert_eq!(controller.update().row, 5);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!((window(&controller), controller.ssthresh()), (393, SEGMENT * 393));
    assert_eq!(until_growth(&mut bench, &mut controller), (79, 394));
    assert_eq!(controller.update().row, 4);
    assert_eq!(until_growth(&mut bench, &mut controller), (79, 395));
}

/// Up to 38 segments one per window and a half: 70 → 35, 35 acknowledgements, 36 − 18. An acknowledgement of two
/// segments counts once.
#[test]
fn a_small_window_is_renos() {
    let (mut bench, mut controller) = highspeed(70);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(until_growth(&mut bench, &mut controller), (35, 36));
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(window(&controller), 18);
    for _ in 0..17 {
        assert_eq!(ack(&mut bench, &mut controller, 2), 18);
    }
    assert_eq!(ack(&mut bench, &mut controller, 2), 19);
}

/// Above the last row, of 89 053, the increase is 72 and the reduction 24/256: 200 000 → 100 000; 1389 acknowledgements
/// make 100 008; 100 001 − ⌊9375.1⌋ = 90 626. With two rows 2 and 112/256.
#[test]
fn above_the_table_its_last_row_applies() {
    let (mut bench, mut controller) = highspeed(200_000);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(until_growth(&mut bench, &mut controller), (1389, 100_001));
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(window(&controller), 90_626);
    let (mut bench, mut controller) = with(Params { rows: 2, ..Params::default() }, 2000);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(until_growth(&mut bench, &mut controller), (500, 1001));
    // 1001·112/256 = 437.9
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(window(&controller), 564);
}

/// A timeout at 16 leaves one segment and a threshold of 8. 1 + 3 = 4; the next 5 reach 8, and the one over does not
/// count: 8 acknowledgements make 9.
#[test]
fn after_a_timeout_slow_start_ends_at_the_threshold() {
    let (mut bench, mut controller) = highspeed(16);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((window(&controller), controller.ssthresh()), (1, SEGMENT * 8));
    assert_eq!(ack(&mut bench, &mut controller, 3), 4);
    assert_eq!(ack(&mut bench, &mut controller, 5), 8);
    assert_eq!(until_growth(&mut bench, &mut controller), (8, 9));
}

/// 3 − 1 = 2, 2 − 1 = 1, and two at least; the credit is forgotten: of 8 with 7 acknowledged, 4 remain, which grow at
/// the fourth.
#[test]
fn a_reduction_keeps_two_segments_and_forgets_the_credit() {
    for (window, kept) in [(3, 2), (2, 2), (5, 3)] {
        let (mut bench, mut controller) = highspeed(window);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!(controller.ssthresh(), SEGMENT * kept, "{window}");
    }
    let (mut bench, mut controller) = highspeed(16);
    bench.congestion(&mut controller, Cause::Loss);
    for _ in 0..7 {
        assert_eq!(ack(&mut bench, &mut controller, 1), 8);
    }
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(until_growth(&mut bench, &mut controller), (4, 5));
}
