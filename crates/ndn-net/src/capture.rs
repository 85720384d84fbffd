//! Captures of a consumer or producer. Frames of a stream are written as datagrams with port 6363 of the loopback
//! address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use contract::Ecn;
use driver::{Recorder, Tapped};
use units::Time;

use super::{Transport, TransportError};

/// Addresses of the ends of a stream, which has none: this end, and the forwarder's with the port of NDN.
pub(crate) const PROGRAM: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 56_363);
pub(crate) const FORWARDER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 6363);

impl<C: Transport> Transport for Tapped<C> {
    fn now(&mut self) -> Time {
        self.parts().0.now()
    }

    fn wait(&mut self, until: Time) {
        let (inner, recorder) = self.parts();
        if let Some(recorder) = recorder {
            recorder.flush(inner.now());
        }
        inner.wait(until);
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, TransportError> {
        let (inner, Some(recorder)) = self.parts() else { return self.parts().0.receive(take) };
        let now = inner.now();
        let (here, there) = inner.ends().unwrap_or((PROGRAM, FORWARDER));
        inner.receive(&mut |frame| {
            recorder.write(now, Recorder::RECEIVED, (there, here), Ecn::NotCapable, frame);
            take(frame);
        })
    }

    fn send(&mut self, frame: &[u8]) -> Result<bool, TransportError> {
        let (inner, Some(recorder)) = self.parts() else { return self.parts().0.send(frame) };
        let now = inner.now();
        let taken = inner.send(frame)?;
        if taken {
            let ends = inner.ends().unwrap_or((PROGRAM, FORWARDER));
            recorder.write(now, Recorder::SENT, ends, Ecn::NotCapable, frame);
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.parts().0.flush()
    }

    fn is_full(&self) -> bool {
        (**self).is_full()
    }

    fn mtu(&self) -> usize {
        (**self).mtu()
    }

    fn is_local(&self) -> bool {
        (**self).is_local()
    }

    fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        (**self).ends()
    }
}
