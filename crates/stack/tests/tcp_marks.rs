//! Reductions after a mark as in Linux: over a round trip, in proportion to arrivals (`tcp_enter_cwr`,
//! `tcp_cwnd_reduction`).

mod net;

use contract::{Cause, CongestionControl, Count};
use net::{Fate, Halving, Net, SEGMENT, ms, plain};
use stack::tcp::{Config, Reduction, RtoFloor};
use units::{Bytes, Duration};

fn marked(reduction: Reduction) -> Config {
    Config { sack: true, ecn: true, reduction, ..plain() }
}

/// Acknowledgements come 1 ms after each other.
fn spaced<C: CongestionControl>(mut net: Net<C>) -> Net<C> {
    let mut nth = 0;
    net.ack_script = Box::new(move |_| {
        nth += 1;
        Fate::Late(Duration::from_millis(nth - 1))
    });
    net
}

/// Times at which segments left after the first window, in ms.
fn departures<C>(net: &Net<C>) -> Vec<u64> {
    net.data.iter().map(|s| s.at.as_nanos() / 1_000_000).filter(|at| *at > 0).collect()
}

/// Ten are in flight and the first is marked: CEIL(k·5/10) − prr_out is one at the first, third, fifth and seventh
/// acknowledgement. At the ninth five are in flight, which is the window, and from then on one segment leaves per
/// acknowledgement. Without the proportional reduction none leaves until five have been acknowledged.
#[test]
fn a_mark_spreads_the_reduction_over_the_round() {
    let run = |reduction| {
        let mut net = spaced(Net::one(&marked(reduction), Halving::avoiding(10.0)));
        net.on_data(|s| if s.segment == 0 { Fate::Mark } else { Fate::Pass });
        net.run_ms(120);
        assert_eq!(net.flows[0].sender.in_flight(), Bytes::new(5 * SEGMENT));
        assert_eq!(net.flows[0].sent.count(Count::Episodes), 1);
        departures(&net)
    };
    assert_eq!(run(Reduction::Proportional), [100, 102, 104, 106, 109]);
    assert_eq!(run(Reduction::Halt), [105, 106, 107, 108, 109]);
}

/// The round ends with the first acknowledgement of a segment sent in it; a mark on it starts the next reduction, from
/// the window after the last one: 32, 16, 8, 4 and 2 segments at 100, 200, 300 and 400 ms.
#[test]
fn a_mark_on_data_sent_in_the_round_starts_the_next_reduction() {
    let mut net = Net::one(&marked(Reduction::Proportional), Halving::avoiding(32.0));
    net.on_data(|_| Fate::Mark);
    net.run_ms(399);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 3);
    assert_eq!(net.flows[0].sender.controller().threshold, 4.0);
    net.run_ms(450);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 4);
}

/// The window is constant for the whole round: ten, five after the mark, and one more for the five of the next round.
#[test]
fn the_window_does_not_grow_in_the_round() {
    let mut net = Net::one(&marked(Reduction::Proportional), Halving::avoiding(10.0));
    net.on_data(|s| if s.segment == 0 { Fate::Mark } else { Fate::Pass });
    net.run_ms(199);
    assert_eq!(net.flows[0].sender.controller().window, 5.0);
    net.run_ms(299);
    assert!(net.flows[0].sender.controller().window > 5.5);
}

/// A loss in the round belongs to its reduction: it is retransmitted, without another reduction
/// [Linux: tcp_enter_recovery].
#[test]
fn a_loss_in_the_round_of_a_reduction_causes_no_second_one() {
    let mut net = Net::one(&marked(Reduction::Proportional), Halving::avoiding(20.0));
    net.on_data(|s| match s.segment {
        0 => Fate::Mark,
        4 if s.nth == 0 => Fate::Drop,
        _ => Fate::Pass,
    });
    net.run_ms(199);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 1);
    assert_eq!(net.flows[0].sender.controller().threshold, 10.0);
    let again: Vec<_> = net.data.iter().filter(|s| s.nth > 0).map(|s| (s.segment, s.at)).collect();
    assert_eq!(again, [(4, ms(100))]);
}

/// A timeout in it does not lower the threshold again either [Linux: tcp_enter_loss]; it does so after a recovery.
#[test]
fn a_timeout_in_the_round_keeps_the_threshold() {
    let config = Config { rto_floor: RtoFloor::Variation, ..marked(Reduction::Proportional) };
    let mut net = Net::one(&config, Halving::avoiding(20.0));
    net.on_data(|s| match s.segment {
        0 => Fate::Mark,
        20.. if s.nth == 0 => Fate::Drop,
        _ => Fate::Pass,
    });
    // the timer: 100 ms, and 200 ms for the variation, after the acknowledgement at 100 ms
    net.run_ms(399);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    net.run_ms(401);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 1);
    let controller = net.flows[0].sender.controller();
    assert_eq!((controller.window, controller.threshold), (1.0, 10.0));
}

/// Controllers without a threshold are informed, and nothing else happens.
#[test]
fn a_controller_without_a_threshold_is_only_notified() {
    let mut net = Net::one(&marked(Reduction::Proportional), net::Fixed::window(10));
    net.on_data(|s| if s.segment == 0 { Fate::Mark } else { Fate::Pass });
    net.run_ms(199);
    let events = &net.flows[0].sender.controller().events;
    assert_eq!(
        events.iter().filter(|event| event.first).map(|event| event.cause).collect::<Vec<_>>(),
        [Cause::Mark]
    );
    assert_eq!(net.flows[0].sender.in_flight(), Bytes::new(10 * SEGMENT));
}
