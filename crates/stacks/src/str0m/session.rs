//! Sessions of str0m: their settings, and what signalling exchanges.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use str0m::config::DtlsCert;
use str0m::format::{Codec, PayloadParams};
use str0m::ice::IceCreds;
use str0m::media::{MediaKind, Mid, Pt};
use str0m::rtp::Ssrc;
use str0m::{Candidate, Rtc, RtcConfig};

use super::{crypto, dtls};

/// Settings of both ends. The other ones are str0m's defaults.
pub(crate) fn base() -> RtcConfig {
    let cert = dtls::certificate();
    RtcConfig::new()
        .set_rtp_mode(true)
        .set_crypto_provider(Arc::new(crypto::PROVIDER))
        .set_dtls_cert(DtlsCert { certificate: cert.certificate, private_key: cert.private_key })
        .set_stats_interval(Some(STATS_INTERVAL))
}

/// Exchanges the data of signalling between the ends: addresses, credentials, fingerprints and streams of the other.
pub(crate) fn connect(rtc: &mut Rtc, (local, remote): (SocketAddr, SocketAddr), sender: bool) {
    rtc.add_local_candidate(Candidate::host(local, "udp").expect("it is an address"));
    rtc.add_remote_candidate(Candidate::host(remote, "udp").expect("it is an address"));
    let mut api = rtc.direct_api();
    let fingerprint = api.local_dtls_fingerprint().clone();
    api.set_remote_fingerprint(fingerprint);
    api.set_local_ice_credentials(credentials(sender));
    api.set_remote_ice_credentials(credentials(!sender));
    api.set_ice_controlling(sender);
    api.start_dtls(sender).expect("it was not started before");
    let (mid, ssrc, repairs) = (Mid::from("video"), media(), Some(Ssrc::from(2)));
    api.declare_media(mid, MediaKind::Video);
    if sender {
        api.declare_stream_tx(ssrc, repairs, mid, None);
    } else {
        api.expect_stream_rx(ssrc, repairs, mid, None);
        api.enable_twcc_feedback();
    }
}

/// As long as those that str0m draws.
fn credentials(sender: bool) -> IceCreds {
    let name = if sender { "simulated/sender" } else { "simulated/receiv" };
    IceCreds { ufrag: name.to_owned(), pass: format!("{name}/22byte") }
}

/// The stream of media.
pub(crate) fn media() -> Ssrc {
    Ssrc::from(1)
}

/// The payload type of VP8 in a session; `None` if the session lacks it.
pub(crate) fn vp8(rtc: &Rtc) -> Option<Pt> {
    rtc.codec_config().find(|params| params.spec().codec == Codec::Vp8).map(PayloadParams::pt)
}

/// Interval of str0m's statistics.
const STATS_INTERVAL: Duration = Duration::from_millis(100);
