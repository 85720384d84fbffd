//! Proportional rate reduction [RFC9937], and its examples [RFC6937 §3.1].

mod net;

use contract::{CongestionControl, Count};
use net::{Fate, Fixed, Halving, Net, SEGMENT, ms, plain};
use stack::tcp::{Config, Reduction};
use units::{Bytes, Duration, Time};

fn proportional(sack: bool) -> Config {
    Config { sack, reduction: Reduction::Proportional, ..plain() }
}

/// Acknowledgements arrive 1 ms apart, so that the list shows what each permitted.
fn spaced<C: CongestionControl>(mut net: Net<C>) -> Net<C> {
    let mut nth = 0;
    net.ack_script = Box::new(move |_| {
        nth += 1;
        Fate::Late(Duration::from_millis(nth - 1))
    });
    net
}

/// Number of segments that each of `n` acknowledgements from `from` ms on permitted: new ones, and retransmissions.
fn sent_by_each<C: CongestionControl>(net: &Net<C>, from: u64, n: u64) -> Vec<(usize, usize)> {
    (from..from + n)
        .map(|at| {
            let here = net.data.iter().filter(|s| s.at >= ms(at) && s.at < ms(at + 1));
            let again = here.clone().filter(|s| s.nth > 0).count();
            (here.count() - again, again)
        })
        .collect()
}

const N: (usize, usize) = (1, 0);
const R: (usize, usize) = (0, 1);
const NOTHING: (usize, usize) = (0, 0);

/// RFC 6937 §3.1, the first example: 20 are in flight and the first is lost. Two new segments leave by limited
/// transmit, then the retransmission; then every second arrival permits one, until ten are in flight.
#[test]
fn one_loss_spreads_the_reduction_over_the_round() {
    for sack in [true, false] {
        let mut net = spaced(Net::one(&proportional(sack), Halving::avoiding(20.0)));
        net.drop_once(&[0]);
        net.run_ms(119);
        let mut expected = vec![N, N, R, NOTHING];
        // CEIL(k·10/20) − prr_out is one at the third, fifth … arrival since the recovery began
        for _ in 0..7 {
            expected.extend([N, NOTHING]);
        }
        expected.push(NOTHING);
        assert_eq!(sent_by_each(&net, 100, 19), expected, "sack: {sack}");
        assert_eq!(net.flows[0].sender.in_flight(), Bytes::new(10 * SEGMENT), "sack: {sack}");
    }
}

/// The other reduction, for comparison: no departures for half a round trip [RFC6937 §3.1, the row of RFC 6675].
#[test]
fn a_halt_pauses_for_half_a_round() {
    let config = Config { reduction: Reduction::Halt, ..proportional(true) };
    let mut net = spaced(Net::one(&config, Halving::avoiding(20.0)));
    net.drop_once(&[0]);
    net.run_ms(119);
    let sent = sent_by_each(&net, 100, 19);
    assert_eq!(sent[..3], [N, N, R]);
    assert!(sent[3..11].iter().all(|each| *each == NOTHING), "{sent:?}");
    assert!(sent[12..].iter().all(|each| *each == N), "{sent:?}");
}

/// RFC 6937 §3.1, the second example: the first 15 of 20 are lost, so that the pipe is below the new window at once.
/// Each arrival permits one segment (the row of PRR-CRB), since no acknowledgement advances: four are in flight, and
/// the one just sent.
#[test]
fn many_losses_are_retransmitted_one_per_acknowledgement_without_progress() {
    let mut net = spaced(Net::one(&proportional(true), Halving::avoiding(20.0)));
    net.drop_once(&(0..15).collect::<Vec<_>>());
    net.run_ms(105);
    assert_eq!(sent_by_each(&net, 100, 5), [N, N, R, R, R]);
    assert_eq!(net.flows[0].sender.in_flight(), Bytes::new(5 * SEGMENT));
}

/// RFC 9937 §6.2: an acknowledgement that advances and shows no further loss permits one segment more, as in slow
/// start.
#[test]
fn arrived_retransmissions_release_two_segments() {
    let mut net = spaced(Net::one(&proportional(true), Halving::avoiding(20.0)));
    net.drop_once(&(0..15).collect::<Vec<_>>());
    // the sixth and the seventh acknowledgement, at 205 and 207 ms, are of 20 and 21; from 209 ms on retransmissions
    // are acknowledged
    net.run_ms(214);
    let sent: Vec<_> = sent_by_each(&net, 205, 9).into_iter().filter(|each| *each != NOTHING).collect();
    assert_eq!(sent, [R, R, (0, 2), (0, 2), (0, 2)]);
}

/// RFC 9937 §6.4: when the recovery ends the window is the threshold, and there is no burst.
#[test]
fn at_the_end_the_window_is_the_threshold() {
    for sack in [true, false] {
        let mut net = Net::one(&proportional(sack), Halving::avoiding(20.0));
        net.drop_once(&[0]);
        net.run(Time::ZERO + Duration::from_secs(2));
        assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
        assert_eq!(net.flows[0].sent.count(Count::Retransmits), 1);
        // ten after the reduction, and one segment more per round trip
        let window = net.flows[0].sender.controller().window;
        assert!(window > 10.0 && window < 32.0, "{window}");
        assert!(net.flows[0].sender.in_flight() <= Bytes::new((window * SEGMENT as f64) as u64));
    }
}

/// A controller without a threshold controls the data in flight itself, and is not affected.
#[test]
fn controllers_without_a_threshold_have_no_proportional_reduction() {
    let run = |reduction| {
        let mut net = Net::one(&Config { reduction, ..proportional(true) }, Fixed::window(20));
        net.drop_once(&[0, 3, 4, 9]);
        net.run_ms(500);
        net.data.iter().map(|s| (s.at, s.segment, s.nth)).collect::<Vec<_>>()
    };
    assert_eq!(run(Reduction::Proportional), run(Reduction::Halt));
}
