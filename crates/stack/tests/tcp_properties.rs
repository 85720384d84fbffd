//! On every path a transfer ends, and no data is delivered twice or out of order.

mod net;

use contract::Count;
use net::{Fate, Fixed, Halving, Net, SEGMENT, plain};
use proptest::prelude::*;
use stack::tcp::{Acks, Config, Demand, LossDetection, RecoveryTimer, Reduction};
use units::{Bytes, Duration, Rate, Time};

#[derive(Clone, Debug)]
struct Path {
    /// Fates of data segments and of acknowledgements, in the order of departure; later ones are delivered.
    data: Vec<u8>,
    acks: Vec<u8>,
}

fn path() -> impl Strategy<Value = Path> {
    (prop::collection::vec(any::<u8>(), 0..150), prop::collection::vec(any::<u8>(), 0..150))
        .prop_map(|(data, acks)| Path { data, acks })
}

fn fate(byte: Option<u8>) -> Fate {
    match byte {
        None => Fate::Pass,
        Some(x) if x < 30 => Fate::Drop,
        Some(x) if x < 50 => Fate::Late(Duration::from_micros(u64::from(x) * 1500)),
        Some(x) if x < 60 => Fate::Mark,
        Some(_) => Fate::Pass,
    }
}

fn config() -> impl Strategy<Value = Config> {
    let switches = any::<[bool; 13]>();
    (switches, 1u64..60_000, prop::option::of(500u64..9000)).prop_map(|(on, size, receive_window)| Config {
        sack: on[0],
        delayed_ack: on[1],
        ecn: on[2],
        limited_transmit: on[3],
        fast_recovery: on[11],
        recovery_timer: if on[4] { RecoveryTimer::Steady } else { RecoveryTimer::Impatient },
        undo: on[5],
        frto: on[12],
        handshake: on[6],
        idle_restart: on[7],
        loss_detection: if on[9] { LossDetection::Time } else { LossDetection::Count },
        tail_probe: on[10],
        reduction: if on[8] { Reduction::Proportional } else { Reduction::Halt },
        receive_window: receive_window.map_or(Bytes::UNLIMITED, Bytes::new),
        demand: Demand::Finite(Bytes::new(size)),
        ..plain()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Divided and repeated acknowledgements are true; with optimistic ones the sender believes that all has arrived.
    #[test]
    fn no_receiver_that_lies_breaks_a_sender(config in config(), path in path(), which in 0usize..3, window in 1u64..40) {
        let acks = [Acks::Divided, Acks::Repeated, Acks::Optimistic][which];
        let Demand::Finite(size) = config.demand else { unreachable!("it is finite") };
        let mut net = Net::one(&Config { acks, ..config }, Fixed::window(window));
        script(&mut net, path);
        for _ in 0..4000 {
            net.run(net.now + Duration::from_secs(1));
            if net.idle() {
                break;
            }
        }
        prop_assert!(net.idle(), "the sender has nothing to send");
        prop_assert!(net.flows[0].received.goodput_bytes <= size.as_u64());
        prop_assert!(acks == Acks::Optimistic || net.flows[0].received.goodput_bytes == size.as_u64());
    }

    #[test]
    fn every_transfer_arrives_whole(config in config(), path in path(), paced in any::<bool>(), window in 1u64..40) {
        let Demand::Finite(size) = config.demand else { unreachable!("it is finite") };
        let mut controller = Fixed::window(window);
        if paced {
            controller.allowance.rate = Rate::from_mbps(1);
        }
        let mut net = Net::one(&config, controller);
        script(&mut net, path);
        for _ in 0..4000 {
            net.run(net.now + Duration::from_secs(1));
            // without SACK each duplicate acknowledgement counts as a segment, although duplicates of segments cause
            // some too; and segments that were presumed lost may be in flight after all
            let max = if config.sack && !config.undo { window } else { 2 * window + 4 };
            // and a probe may exceed the window by a segment
            let max = max + u64::from(config.tail_probe);
            let in_flight = net.flows[0].sender.in_flight();
            prop_assert!(in_flight <= Bytes::new(max * SEGMENT), "{} in flight", in_flight);
            if net.flows[0].received.completed_at != Time::NEVER && net.idle() {
                break;
            }
        }
        prop_assert_eq!(net.flows[0].received.goodput_bytes, size.as_u64());
        prop_assert!(net.flows[0].received.completed_at != Time::NEVER);
        prop_assert_eq!(net.flows[0].sender.in_flight(), Bytes::ZERO, "all is acknowledged");
        let sent: u64 = net.data.iter().filter(|s| !s.header.flags.syn).map(|s| s.size - 40).sum();
        prop_assert!(sent >= size.as_u64());
    }

    /// Without reordering and without timeouts SACK retransmits lost segments only.
    #[test]
    fn sack_retransmits_only_lost_data(lost in prop::collection::vec(0u64..200, 0..40), window in 4u64..60) {
        let mut net = Net::one(&Config { sack: true, ..plain() }, Fixed::window(window));
        net.drop_once(&lost);
        net.run(Time::ZERO + Duration::from_secs(8));
        if net.flows[0].sent.count(Count::Timeouts) == 0 {
            let again: Vec<u64> = net.data.iter().filter(|s| s.nth > 0).map(|s| s.segment).collect();
            // NextSeg rules 3 and 4 may send segments that are not known to be lost; here there is always new data, so
            // they never do
            prop_assert!(again.iter().all(|segment| lost.contains(segment)), "{:?} of {:?}", again, lost);
        }
    }

    /// The controller gets at most one loss event per window.
    #[test]
    fn episodes_are_a_round_apart(path in path(), sack in any::<bool>()) {
        let mut net = Net::one(&Config { sack, undo: false, ..plain() }, Halving::avoiding(10.0));
        script(&mut net, Path { data: path.data.into_iter().map(|x| if x < 50 { x } else { 255 }).collect(), acks: vec![] });
        net.run(Time::ZERO + Duration::from_secs(20));
        let (episodes, timeouts) = (net.flows[0].sent.count(Count::Episodes), net.flows[0].sent.count(Count::Timeouts));
        prop_assert!(episodes <= 200 + timeouts, "{} in 200 rounds", episodes);
    }
}

fn script<C: contract::CongestionControl>(net: &mut Net<C>, path: Path) {
    let mut data = path.data.into_iter();
    net.on_data(move |_| fate(data.next()));
    let mut acks = path.acks.into_iter();
    net.ack_script = Box::new(move |_| match fate(acks.next()) {
        Fate::Mark => Fate::Pass,
        other => other,
    });
}

#[test]
fn a_retransmission_of_which_a_part_has_arrived_is_not_lost() {
    let config = Config {
        sack: true,
        undo: true,
        recovery_timer: RecoveryTimer::Impatient,
        loss_detection: LossDetection::Time,
        tail_probe: true,
        reduction: Reduction::Halt,
        receive_window: Bytes::new(3000),
        demand: Demand::Finite(Bytes::new(58_001)),
        ..plain()
    };
    let mut controller = Fixed::window(36);
    controller.allowance.rate = Rate::from_mbps(1);
    let mut net = Net::one(&config, controller);
    let data = vec![
        50, 30, 30, 50, 30, 30, 30, 30, 30, 50, 50, 50, 50, 30, 0, 30, 50, 30, 30, 30, 50, 50, 30, 50, 30,
        30, 31, 50, 50, 30, 50, 50, 50, 30, 30, 50, 30, 50, 50, 30, 50, 50, 50, 30, 30, 30, 50, 46, 30, 50,
        0, 30, 30, 30, 30, 50, 30, 30, 50, 30, 30, 50, 50, 30, 0, 30, 30, 0, 30,
    ];
    let acks = vec![
        170, 56, 114, 72, 37, 133, 234, 254, 186, 146, 93, 58, 90, 29, 201, 55, 8, 38, 94, 169, 82, 16, 133,
        123, 123, 232, 143, 75, 159, 226, 121, 34, 123, 242, 183, 92, 214, 58, 150, 156, 56, 158, 43, 45, 56,
        24, 251, 220, 174, 63, 88, 50, 204, 1, 235, 235, 1, 69, 51, 169, 75, 54, 1, 12, 56, 250, 66, 96, 32,
        198, 224, 150, 107, 58, 253, 166, 238, 87,
    ];
    script(&mut net, Path { data, acks });
    net.run(Time::ZERO + Duration::from_secs(100));
    assert_eq!(net.flows[0].received.goodput_bytes, 58_001);
}

/// The receiver divides its acknowledgements: the last that arrives acknowledges a part of a segment that an earlier
/// one has reported whole. A timeout then withdraws the report [RFC2018 §8].
#[test]
fn a_segment_that_was_reported_and_then_acknowledged_in_part_is_sent_again() {
    let (acks, demand) = (Acks::Divided, Demand::Finite(Bytes::new(5751)));
    let config = Config { sack: true, fast_recovery: false, acks, demand, ..plain() };
    let mut net = Net::one(&config, Fixed::window(6));
    // of the acknowledgements only a report of the last four segments and the last but one arrive
    let mut fates = vec![0; 51];
    (fates[11], fates[49]) = (60, 60);
    script(&mut net, Path { data: vec![60, 0, 60, 60, 60, 60], acks: fates });
    net.run(Time::ZERO + Duration::from_secs(100));
    assert!(net.idle(), "the sender has nothing to send");
    assert_eq!(net.data.last().map(|sent| sent.header.seq), Some(5750));
}
