//! Instants of a simulation for str0m.

use std::time::{Duration, Instant, SystemTime};

use contract::Random;
use str0m::net::{Protocol, Receive};
use str0m::rtp::rtcp::Rtcp;
use str0m::rtp::{RawPacket, RtpWrite};
use str0m::{Event, Output};

use super::session::{base, connect, media, vp8};
use crate::clock::{self, Clock};
use crate::tls::seeded;
use crate::{CLIENT, SERVER};

/// Instants of a simulation.
///
/// str0m maps instants to the time of day by clocks of the host, which it reads once in a process, and rounds times in
/// reports to 1/65536 s. Time zero of every simulation is at a multiple of [`DAY`] there, so that rounding is the same
/// in every process.
pub(crate) static CLOCK: Clock = Clock::new(|| {
    let now = clock::now();
    let unix = seeded(&mut Random::new(0, "str0m", "clock"), || unix_time(now));
    now + DAY - Duration::from_nanos((unix.as_nanos() % DAY.as_nanos()) as u64)
});

/// The time after which the seconds in reports begin again.
const DAY: Duration = Duration::from_secs(1 << 16);

/// The time since 1970 that str0m takes `began` for, from a sender report [RFC3550 §6.4.1] in a session of two ends in
/// memory.
fn unix_time(began: Instant) -> Duration {
    let addresses = [(CLIENT, SERVER), (SERVER, CLIENT)];
    let mut ends = [true, false].map(|sender| {
        fastrand::seed(u64::from(sender));
        let mut rtc = base().enable_raw_packets(true).build(began);
        connect(&mut rtc, addresses[usize::from(!sender)], sender);
        rtc
    });
    let mut under_way = [const { Vec::<Vec<u8>>::new() }; 2];
    for step in 0..MAX_STEPS {
        let now = began + STEP * step;
        for (at, (source, destination)) in addresses.iter().map(|(own, other)| (*other, *own)).enumerate() {
            let rtc = &mut ends[at];
            for datagram in std::mem::take(&mut under_way[at]) {
                let Ok(contents) = datagram[..].try_into() else { continue };
                let datagram = Receive { proto: Protocol::Udp, source, destination, contents };
                rtc.handle_input(str0m::Input::Receive(now, datagram)).expect("str0m sent it");
            }
            rtc.handle_input(str0m::Input::Timeout(now)).expect("time goes on");
            if let Some(pt) = vp8(rtc)
                && let Some(stream) = rtc.direct_api().stream_tx(&media())
            {
                stream.write_rtp(RtpWrite::new(pt, u64::from(step).into(), step, now, vec![0; 100]));
            }
            loop {
                match rtc.poll_output().expect("the session goes on") {
                    Output::Timeout(_) => break,
                    Output::Transmit(datagram) => under_way[1 - at].push(datagram.contents.to_vec()),
                    Output::Event(Event::RawPacket(packet)) => {
                        if let RawPacket::RtcpTx(Rtcp::SenderReport(report)) = &*packet {
                            let unix = report.sender_info.ntp_time.duration_since(SystemTime::UNIX_EPOCH);
                            return unix.expect("it is after 1970") - (now - began);
                        }
                    }
                    Output::Event(_) => {}
                }
            }
        }
    }
    unreachable!("str0m sends a report every few seconds")
}

/// Steps of the session in memory: more than the interval of reports.
const STEP: Duration = Duration::from_millis(10);
const MAX_STEPS: u32 = 2000;
