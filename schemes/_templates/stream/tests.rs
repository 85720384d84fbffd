//! One test per claim of the paper, named after it, with the section.

use contract::{Arrival, EndpointId, Gap, Label, ReceiverLaw, SenderLaw, Setup};
use units::Bytes;

use super::{Params, receiver, sender};
use crate::shared::stream_testing::{LawBench, PACKET, ms, near};

const SETUP: Setup = Setup { segment: PACKET, header: Bytes::ZERO, initial_window: Bytes::ZERO };

/// A source of packets of 1000 bytes that has started.
fn started() -> (LawBench, super::Sender) {
    let mut end = LawBench::new(EndpointId(0));
    let mut law = sender(&Params::default(), &SETUP);
    end.cx(|cx| law.on_start(cx));
    (end, law)
}

fn rate(law: &impl SenderLaw) -> f64 {
    law.allowance().rate.as_bps_f64()
}

/// [CJ89 §3]: a packet of 8000 bits per 0.2 s is 40 kbit/s.
#[test]
fn an_interval_without_loss_adds_a_packet_per_interval() {
    let (mut end, mut law) = started();
    end.run(&mut law, ms(200));
    near(rate(&law), 140_000.0);
    end.run(&mut law, ms(400));
    near(rate(&law), 180_000.0);
}

/// [CJ89 §3]
#[test]
fn a_report_of_loss_keeps_a_half_once_per_interval() {
    let (mut end, mut law) = started();
    for _ in 0..3 {
        end.tell(&mut law, EndpointId(1), ms(0), Label([2, 0, 0, 0]));
    }
    near(rate(&law), 50_000.0);
    end.run(&mut law, ms(200));
    near(rate(&law), 50_000.0);
    end.tell(&mut law, EndpointId(1), ms(200), Label([1, 0, 0, 0]));
    near(rate(&law), 25_000.0);
}

#[test]
fn the_rate_is_never_below_its_minimum() {
    let (mut end, mut law) = started();
    for i in 1..=10 {
        end.tell(&mut law, EndpointId(1), ms(0), Label([1, 0, 0, 0]));
        end.run(&mut law, ms(200 * i));
    }
    near(rate(&law), 8000.0);
}

#[test]
fn a_gap_is_reported_with_its_length() {
    let mut end = LawBench::new(EndpointId(1));
    let mut law = receiver(&Params::default(), &SETUP);
    let before = Arrival {
        seq: 7,
        size: PACKET,
        bytes_before: 7000,
        sent_at: ms(0),
        marked: false,
        label: Label::default(),
    };
    let sent = end.listen(|cx| law.on_loss(&Gap { first_missing: 4, packets: 3, before }, cx));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].label, Label([3, 0, 0, 0]));
}
