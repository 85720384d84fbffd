//! The opening of a connection: the SYN, its timer, and its answer.

use contract::{CongestionControl, Cx, Ecn, Header, Label, TcpFlags, TcpHeader};
use units::Bytes;

use super::{Phase, Sender};

impl<C: CongestionControl> Sender<C> {
    pub(super) fn start(&mut self, cx: &mut Cx<'_>) {
        if self.phase != Phase::Closed {
            return;
        }
        self.app_data.start(cx);
        if self.settings.limited_at_write
            && let Some(sampler) = &mut self.sampler
        {
            sampler.limit(0);
        }
        self.read_allowance();
        if self.settings.handshake {
            self.phase = Phase::Opening;
            self.open(cx);
        } else {
            self.phase = Phase::Open;
            self.transmit(cx);
            self.arm(cx);
        }
        if cx.probing() {
            self.probe(cx);
        }
    }

    /// Sends a SYN.
    pub(super) fn open(&mut self, cx: &mut Cx<'_>) {
        let flags = TcpFlags { syn: true, ..TcpFlags::default() };
        let header = TcpHeader { flags, window_bytes: u32::MAX, ..TcpHeader::default() };
        let size = Bytes::new(u64::from(self.settings.header_bytes));
        cx.send(self.to.into(), size, Ecn::NotCapable, Header::Tcp(header), Label::default());
        self.timer.start(cx.now());
    }

    /// Takes the answer to the SYN; other packets are late and ignored.
    #[cold]
    pub(super) fn on_handshake_packet(&mut self, header: &TcpHeader, cx: &mut Cx<'_>) {
        if self.phase != Phase::Opening || !header.flags.syn {
            return;
        }
        let rtt = cx.now().saturating_since(header.echo);
        self.timer.sample(rtt);
        cx.measured_rtt(rtt);
        self.timer.stop();
        self.phase = Phase::Open;
        self.controller.on_handshake(rtt, cx);
        self.read_allowance();
        self.transmit(cx);
        self.arm(cx);
    }
}
