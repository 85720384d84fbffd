mod receiver;
mod source;

use contract::{Arrival, EndpointId, Gap, Label};
use units::{Bytes, Duration, Time};

use super::endpoints::{Answer, DataHeader, Receiver};
use super::{Mode, Params};
use crate::shared::stream_testing::{PACKET, StreamBench, ms};

const SOURCE: EndpointId = EndpointId(1);
const RECEIVER: EndpointId = EndpointId(2);

/// A receiver that is given packets by their delay, one packet per second, and what it answers.
struct Path {
    end: StreamBench,
    algorithm: Receiver,
    seq: u64,
    mode: Mode,
    rtt_min: Option<Duration>,
    srtt: Duration,
    /// What the receiver's clock is ahead of the source's.
    ahead: Duration,
    sent_at: Time,
}

impl Path {
    fn new(params: &Params) -> Self {
        Self {
            end: StreamBench::new(RECEIVER),
            algorithm: Receiver::new(params),
            seq: 0,
            mode: params.mode,
            rtt_min: Some(Duration::from_millis(40)),
            srtt: Duration::from_millis(40),
            ahead: Duration::ZERO,
            sent_at: ms(1000),
        }
    }

    fn data(&self) -> Arrival {
        let header = DataHeader { mode: self.mode, rtt_min: self.rtt_min, srtt: self.srtt };
        Arrival {
            seq: self.seq,
            size: PACKET,
            bytes_before: self.seq * PACKET.as_u64(),
            sent_at: self.sent_at,
            marked: false,
            label: header.encode(),
        }
    }

    /// The number of the command when a packet came after this many milliseconds.
    fn packet(&mut self, delay_ms: f64) -> u64 {
        self.sent_at += Duration::from_secs(1);
        self.end.now = self.sent_at + self.ahead + Duration::from_secs_f64(delay_ms / 1e3);
        let data = self.data();
        self.seq += 1;
        let algorithm = &mut self.algorithm;
        let messages = self.end.listen(|cx| contract::ReceiverAlgorithm::on_data(algorithm, &data, cx));
        let [answer] = messages.as_slice() else { panic!("one answer for each packet, not {messages:?}") };
        let answer = Answer::decode(answer.label).expect("an answer");
        assert_eq!(answer.echo, data.sent_at);
        answer.command.number()
    }

    /// The same, when packets before it are missing.
    fn after_loss(&mut self, delay_ms: f64) -> u64 {
        self.seq += 1;
        let gap = Gap { first_missing: self.seq - 1, packets: 1, before: self.data() };
        let algorithm = &mut self.algorithm;
        self.end.listen(|cx| contract::ReceiverAlgorithm::on_loss(algorithm, &gap, cx));
        self.packet(delay_ms)
    }

    /// The newest value of a series.
    fn probed(&self, name: &str) -> f64 {
        let notes = &self.end.out.notes.pending;
        notes.iter().rev().find(|note| note.name == name).expect("it is offered").value
    }
}

/// A path whose delay space is 0 to 100 ms above what no queue takes, and whose last packet was at `last_ms`.
fn space(params: &Params, last_ms: f64) -> Path {
    let mut path = Path::new(params);
    path.packet(10.0);
    path.packet(110.0);
    path.after_loss(10.0);
    path.packet(10.0 + last_ms);
    path
}

fn label(words: [u64; 4]) -> Label {
    Label(words)
}

fn bytes(n: u64) -> Bytes {
    Bytes::new(n)
}
