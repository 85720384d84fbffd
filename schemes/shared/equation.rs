//! The throughput equation of TCP, which equation-based schemes follow.

use units::Bytes;

/// Rate of a TCP connection with packets of size `packet`, a round-trip time of `rtt_s` seconds and a loss event rate of `p`,
/// in bit/s: [RFC5348 §3.1] with b = 1 and t_RTO = 4R, [RFC4654 §2].
///
/// Infinite where `p` or `rtt_s` is zero; `p` above 1 counts as 1.
pub fn tcp_friendly_rate(packet: Bytes, rtt_s: f64, p: f64) -> f64 {
    let p = p.clamp(0.0, 1.0);
    // X = 8s / (R·(√(2p/3) + 12·√(3p/8)·p·(1 + 32p²)))
    let response = (2.0 * p / 3.0).sqrt() + 12.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    packet.as_f64() * 8.0 / (rtt_s * response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_values_worked_by_hand() {
        // s = 1000 B, R = 100 ms, p = 1 %: √(0.02/3) = 0.0816497, 12·√0.00375·0.01·1.0032 = 0.00737199
        let rate = tcp_friendly_rate(Bytes::new(1000), 0.1, 0.01);
        assert!((rate / 898_640.0 - 1.0).abs() < 1e-4, "{rate}");
        // p = 1: √(2/3) = 0.816497, 12·√0.375·33 = 242.499
        let rate = tcp_friendly_rate(Bytes::new(1000), 0.1, 1.0);
        assert!((rate / 328.79 - 1.0).abs() < 1e-4, "{rate}");
        assert_eq!(tcp_friendly_rate(Bytes::new(1000), 0.1, 0.0), f64::INFINITY);
    }
}
