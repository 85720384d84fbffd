//! ECN feedback: DCTCP's (RFC 8257 §3.2) and accurate feedback (RFC 9768).

mod net;

use contract::{Count, Ecn, EcnFeedback, TcpFlags};
use net::{Fate, Fixed, Net, SEGMENT, plain};
use stack::tcp::Config;

fn with(feedback: EcnFeedback) -> Config {
    Config { ecn: true, ecn_feedback: feedback, delayed_ack: true, ..plain() }
}

/// The acknowledgement numbers in segments, and the AE, CWR and ECE flags.
fn acks(net: &Net<Fixed>) -> Vec<(u64, u8)> {
    net.acks.iter().map(|s| (s.header.ack / SEGMENT, s.header.flags.ace)).collect()
}

/// RFC 8257 §3.2, figure 1, with an acknowledgement of every second segment. Of 0 to 7, 2 and 3 and 6 are marked: 0 and
/// 1 are acknowledged together; 2 changes the state and is acknowledged at once; 3 waits, and 4 changes the state
/// again, so that 3 is acknowledged with ECE and 4 without. 5 waits until 6 changes the state.
#[test]
fn dctcp_acknowledges_at_once_where_marks_begin_and_end() {
    let mut net = Net::one(&with(EcnFeedback::Dctcp), Fixed::window(8));
    net.on_data(|s| if [2, 3, 6].contains(&s.segment) { Fate::Mark } else { Fate::Pass });
    net.run_ms(150);
    let ece = TcpFlags::ECE;
    assert_eq!(acks(&net)[..6], [(2, 0), (3, ece), (4, ece), (5, 0), (6, 0), (7, ece)]);
    assert_eq!(net.flows[0].received.count(Count::Marks), 3);
}

/// RFC 9768 §3.2.1 and §3.2.2.5.1: the counter starts at five. Of 0 to 9, 1 to 4 and 7 are marked. 0 waits for 1, which
/// is the first of a run of marks and would be acknowledged at once anyway: six. 2 waits and 3 makes two since then:
/// eight, of which three bits are zero. 4 waits for 5: one. 6 waits for 7: two.
#[test]
fn the_counter_of_accurate_feedback_has_three_bits_and_starts_at_five() {
    let mut net = Net::one(&with(EcnFeedback::Accurate), Fixed::window(10));
    net.on_data(|s| if [1, 2, 3, 4, 7].contains(&s.segment) { Fate::Mark } else { Fate::Pass });
    net.run_ms(150);
    assert_eq!(acks(&net)[..5], [(2, 6), (4, 0), (6, 1), (8, 2), (10, 2)]);
    let reported: Vec<u32> =
        net.flows[0].sender.controller().acks.iter().map(|ack| ack.marked_packets).collect();
    assert_eq!(reported[..5], [1, 2, 1, 1, 0]);
}

/// Data of an L4S sender are ECT(1); a mark is one whatever they were.
#[test]
fn data_of_an_l4s_sender_are_ect_1() {
    let mut net = Net::one(&Config { l4s: true, ..with(EcnFeedback::Accurate) }, Fixed::window(4));
    net.run_ms(150);
    assert!(net.data.iter().all(|s| s.ecn == Ecn::CapableL4s));
}
