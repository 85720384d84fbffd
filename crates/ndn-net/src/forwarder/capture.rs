//! Captures of a forwarder: one interface per link, one for other hosts and one for programs on this host. Packets have
//! a direction.

use std::io::{self, Write};
use std::net::SocketAddr;

use contract::Ecn;
use driver::{Captured, Recorder, Tapped};
use units::Time;
use wire::Way;

use super::{ForwarderPlatform, Frames, Inbox, Peer};
use crate::{FORWARDER, PROGRAM};

/// Address of a program's end of a stream at a forwarder: the port of [`PROGRAM`] for the first, then the following
/// ports, which repeat.
fn program_end(number: u64) -> SocketAddr {
    let ports = u64::from(u16::MAX - PROGRAM.port()) + 1;
    let port = PROGRAM.port() + (number.saturating_sub(1) % ports) as u16;
    SocketAddr::new(PROGRAM.ip(), port)
}

/// Writes the frames of all faces to a capture.
#[derive(Debug)]
pub struct FaceRecorder {
    recorder: Recorder,
    /// Peers of links, each with an interface; then follow an interface for strangers and one for programs.
    links: Vec<SocketAddr>,
}

impl FaceRecorder {
    /// Starts a capture. `began_ns` is the zero of the forwarder's clock in nanoseconds since 1970; see
    /// [`Recorder::zero_of`].
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn new(
        out: impl Write + Send + 'static,
        links: &[(String, SocketAddr)],
        began_ns: u64,
    ) -> io::Result<Self> {
        let names = links.iter().map(|link| link.0.as_str()).chain(["strangers", "programs"]);
        let recorder = Recorder::with_interfaces(out, &names.collect::<Vec<_>>(), began_ns)?;
        Ok(Self { recorder, links: links.iter().map(|link| link.1).collect() })
    }

    /// Writes a frame of a face. Frames of endpoints inside the process are on no link, and a controller is not a face.
    fn write(
        &mut self,
        at: Time,
        direction: Way,
        place: Peer,
        frame: &[u8],
        platform: &impl ForwarderPlatform,
    ) {
        let (interface, here, there) = match place {
            Peer::Udp(peer) => {
                let interface = self.links.iter().position(|link| *link == peer);
                let here = self.recorder.local_address(peer, |peer| platform.local_address(peer));
                (interface.unwrap_or(self.links.len()), here, peer)
            }
            Peer::Program(number) => (self.links.len() + 1, FORWARDER, program_end(number)),
            Peer::App(_) | Peer::Controller => return,
        };
        let ends = if direction == Way::Out { (here, there) } else { (there, here) };
        self.recorder.write(at, (interface as u32, Some(direction)), ends, Ecn::NotCapable, frame);
    }
}

impl From<FaceRecorder> for Captured {
    fn from(recorder: FaceRecorder) -> Self {
        recorder.recorder.finish()
    }
}

impl<S: ForwarderPlatform> Frames for Tapped<S, FaceRecorder> {
    fn send(&mut self, to: Peer, frame: &[u8]) -> bool {
        let (inner, Some(recorder)) = self.parts() else { return self.parts().0.send(to, frame) };
        let now = inner.now();
        let taken = inner.send(to, frame);
        if taken {
            recorder.write(now, Way::Out, to, frame, inner);
        }
        taken
    }

    fn waiting(&mut self, to: Peer) -> u64 {
        self.parts().0.waiting(to)
    }
}

impl<S: ForwarderPlatform> ForwarderPlatform for Tapped<S, FaceRecorder> {
    fn now(&mut self) -> Time {
        self.parts().0.now()
    }

    fn wait(&mut self, until: Time) {
        let (inner, recorder) = self.parts();
        if let Some(recorder) = recorder {
            recorder.recorder.flush(inner.now());
        }
        inner.wait(until);
    }

    fn receive(&mut self, inbox: &mut Inbox) {
        let (inner, Some(recorder)) = self.parts() else { return self.parts().0.receive(inbox) };
        let before = inbox.frames().count();
        inner.receive(inbox);
        let now = inner.now();
        for (from, frame) in inbox.frames().skip(before) {
            recorder.write(now, Way::In, from, frame, inner);
        }
    }

    fn local_address(&self, peer: SocketAddr) -> Option<SocketAddr> {
        (**self).local_address(peer)
    }
}
