//! One test per claim of the paper, named after it, with the section.

use contract::{Arrival, EndpointId, Gap, Label, ReceiverAlgorithm, SenderAlgorithm, Setup};
use units::Bytes;

use super::{Params, receiver, sender};
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

const SETUP: Setup = Setup { segment: PACKET, header: Bytes::ZERO, initial_window: Bytes::ZERO };

/// A source of packets of 1000 bytes that has started.
fn started() -> (StreamBench, super::Sender) {
    let mut end = StreamBench::new(EndpointId(0));
    let mut algorithm = sender(&Params::default(), &SETUP);
    end.cx(|cx| algorithm.on_start(cx));
    (end, algorithm)
}

fn rate(algorithm: &impl SenderAlgorithm) -> f64 {
    algorithm.allowance().rate.as_bps_f64()
}

/// [CJ89 §3]: a packet of 8000 bits per 0.2 s is 40 kbit/s.
#[test]
fn an_interval_without_loss_adds_a_packet_per_interval() {
    let (mut end, mut algorithm) = started();
    end.run(&mut algorithm, ms(200));
    near(rate(&algorithm), 140_000.0);
    end.run(&mut algorithm, ms(400));
    near(rate(&algorithm), 180_000.0);
}

/// [CJ89 §3]
#[test]
fn a_report_of_loss_keeps_a_half_once_per_interval() {
    let (mut end, mut algorithm) = started();
    for _ in 0..3 {
        end.send_feedback(&mut algorithm, EndpointId(1), ms(0), Label([2, 0, 0, 0]));
    }
    near(rate(&algorithm), 50_000.0);
    end.run(&mut algorithm, ms(200));
    near(rate(&algorithm), 50_000.0);
    end.send_feedback(&mut algorithm, EndpointId(1), ms(200), Label([1, 0, 0, 0]));
    near(rate(&algorithm), 25_000.0);
}

#[test]
fn the_rate_is_never_below_its_minimum() {
    let (mut end, mut algorithm) = started();
    for i in 1..=10 {
        end.send_feedback(&mut algorithm, EndpointId(1), ms(0), Label([1, 0, 0, 0]));
        end.run(&mut algorithm, ms(200 * i));
    }
    near(rate(&algorithm), 8000.0);
}

#[test]
fn a_gap_is_reported_with_its_length() {
    let mut end = StreamBench::new(EndpointId(1));
    let mut algorithm = receiver(&Params::default(), &SETUP);
    let before = Arrival {
        seq: 7,
        size: PACKET,
        bytes_before: 7000,
        sent_at: ms(0),
        marked: false,
        label: Label::default(),
    };
    let sent = end.listen(|cx| algorithm.on_loss(&Gap { first_missing: 4, packets: 3, before }, cx));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].label, Label([3, 0, 0, 0]));
}
