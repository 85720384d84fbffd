//! The initial rate of a live stream: the rate of its content, if the scheme's source leaves the initial rate open.
//!
//! A scheme that starts far below the rate of a live stream drops data at their deadline before the rate has grown. The
//! rate of the content is therefore measured first, and becomes the parameter `initial_rate`, up to the initial window
//! of RFC 6928: ten packets per round-trip time of the handshake. A scheme without that parameter, or with a value from
//! its source, is unchanged.

use contract::{ParamList, ParamValue};
use schemes::Entry;
use transfer::Pace;
use units::{Bytes, Duration, Rate, UnitText};

/// Packets in the first round trip [RFC6928 §2].
const INITIAL_WINDOW: u64 = 10;
/// Factor by which the initial rate exceeds the rate of the content, to send what waited during the measurement: 5/4.
const HEADROOM: (u128, u128) = (5, 4);
/// Name of the parameter.
const NAME: &str = "initial_rate";

/// `given` with the initial rate for this content; `None` if the scheme keeps its own.
pub(crate) fn with_initial_rate(
    entry: &Entry,
    given: &ParamList,
    packet: Bytes,
    pace: Pace,
    rtt: Option<Duration>,
) -> Option<ParamList> {
    let (Pace::Packets(packets, span), Some(rtt)) = (pace, rtt) else { return None };
    let params = (entry.params)();
    let own = params.iter().find(|param| param.name == NAME)?;
    if !own.source.starts_with("our choice") || given.iter().any(|(name, _)| name == NAME) {
        return None;
    }
    let rate = |packets: u64, span: Duration| {
        let bits = u128::from(packets) * u128::from(packet.as_u64()) * 8 * 1_000_000_000;
        bits / u128::from(span.as_nanos().max(1))
    };
    let required = rate(packets, span) * HEADROOM.0 / HEADROOM.1;
    let bps = u64::try_from(required.min(rate(INITIAL_WINDOW, rtt))).unwrap_or(u64::MAX);
    let ParamValue::Text(text) = &own.default else { return None };
    let own = Rate::from_text(text).ok()?;
    if bps <= own.as_bps() {
        return None;
    }
    let mut params = given.clone();
    params.push((NAME.to_owned(), ParamValue::Text(format!("{bps} bit/s"))));
    // the rate can be inconsistent with a given limit
    (entry.resolve)(&params).is_ok().then_some(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initial(scheme: &str, given: &[(&str, &str)], pace: Pace, rtt_ms: u64) -> Option<String> {
        let entry = schemes::find(scheme).expect("it is in the catalogue");
        let given: ParamList =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        let rtt = (rtt_ms > 0).then(|| Duration::from_millis(rtt_ms));
        let params = with_initial_rate(&entry, &given, Bytes::new(1250), pace, rtt)?;
        let (_, value) = params.iter().find(|(name, _)| name == NAME)?;
        Some(value.to_string().trim_matches('"').to_owned())
    }

    #[test]
    fn a_live_stream_starts_at_its_own_rate_up_to_ten_packets_in_a_round_trip() {
        let tenth = Duration::from_millis(100);
        // 30 packets of 10 000 bits in 100 ms are 3 Mbit/s, and a quarter more
        assert_eq!(initial("cvihis", &[], Pace::Packets(30, tenth), 1).as_deref(), Some("3750000 bit/s"));
        assert_eq!(initial("cvihis", &[], Pace::Packets(30, tenth), 100).as_deref(), Some("1000000 bit/s"));
        assert_eq!(initial("cvihis", &[], Pace::Packets(30, tenth), 1000), None, "not below its own");
        assert_eq!(initial("cvihis", &[], Pace::Packets(2, tenth), 1), None, "not below its own");
    }

    #[test]
    fn what_was_given_or_is_fixed_by_a_source_stays() {
        let pace = Pace::Packets(300, Duration::from_millis(100));
        assert_eq!(initial("cvihis", &[("initial_rate", "1 Mbit/s")], pace, 1), None);
        assert_eq!(initial("srmcc", &[], pace, 1), None, "Table 1 of its paper");
        assert_eq!(initial("tfrc", &[], pace, 1), None, "RFC 5348 has no such parameter");
        assert_eq!(initial("cvihis", &[], Pace::Any, 1), None);
        assert_eq!(initial("cvihis", &[], pace, 0), None, "no handshake was timed");
    }
}
