//! The throughput equation of TCP, for equation-based schemes.

use units::Bytes;

/// Rate of a TCP connection in bit/s, with packets of size `packet`, a round-trip time of `rtt_s` seconds and a loss
/// event rate of `p`: [RFC5348 §3.1] with b = 1 and t_RTO = 4R, [RFC4654 §2].
///
/// Infinite if `p` or `rtt_s` is zero; `p` above 1 counts as 1.
pub fn tcp_friendly_rate(packet: Bytes, rtt_s: f64, p: f64) -> f64 {
    let p = p.clamp(0.0, 1.0);
    // X = 8s / (R·(√(2p/3) + 12·√(3p/8)·p·(1 + 32p²)))
    let response = (2.0 * p / 3.0).sqrt() + 12.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    packet.as_f64() * 8.0 / (rtt_s * response)
}

/// The loss event rate at which [`tcp_friendly_rate`] returns `rate` bit/s, within `tolerance` relative to it
/// [RFC5348 §6.3.1]; 1 if the result is larger even then. `rate`, `rtt_s` and `tolerance` must be above zero.
pub fn loss_event_rate_of(packet: Bytes, rtt_s: f64, rate: f64, tolerance: f64) -> f64 {
    let (mut low, mut high) = (MIN, 1.0);
    if tcp_friendly_rate(packet, rtt_s, high) >= rate {
        return high;
    }
    // the rate decreases as p grows; bisection by the geometric mean, because p spans many orders of magnitude
    for _ in 0..STEPS {
        let p = f64::sqrt(low * high);
        let share = tcp_friendly_rate(packet, rtt_s, p) / rate;
        if (share - 1.0).abs() <= tolerance {
            return p;
        }
        if share > 1.0 { low = p } else { high = p }
    }
    f64::sqrt(low * high)
}

/// Minimum loss event rate of the search: one packet in 10¹⁸.
const MIN: f64 = 1e-18;
/// Number of bisections after which nothing changes: each adds a binary digit to the exponent, then to the number.
const STEPS: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_equation_gives_values_computed_by_hand() {
        // s = 1000 B, R = 100 ms, p = 1 %: √(0.02/3) = 0.0816497, 12·√0.00375·0.01·1.0032 = 0.00737199
        let rate = tcp_friendly_rate(Bytes::new(1000), 0.1, 0.01);
        assert!((rate / 898_640.0 - 1.0).abs() < 1e-4, "{rate}");
        // p = 1: √(2/3) = 0.816497, 12·√0.375·33 = 242.499
        let rate = tcp_friendly_rate(Bytes::new(1000), 0.1, 1.0);
        assert!((rate / 328.79 - 1.0).abs() < 1e-4, "{rate}");
        assert_eq!(tcp_friendly_rate(Bytes::new(1000), 0.1, 0.0), f64::INFINITY);
    }

    /// [RFC5348 §3.1] in its own units: bytes per second, b = 1, t_RTO = 4R.
    #[test]
    fn the_equation_is_that_of_rfc_5348() {
        for (s, r, p) in [(1460.0, 0.05, 1e-4), (512.0, 0.2, 0.02), (1500.0, 0.001, 0.3), (40.0, 1.0, 0.9f64)]
        {
            let t_rto = 4.0 * r;
            let below = r * f64::sqrt(2.0 * p / 3.0)
                + t_rto * (3.0 * f64::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p));
            let rate = tcp_friendly_rate(Bytes::new(s as u64), r, p) / 8.0;
            assert!((rate / (s / below) - 1.0).abs() < 1e-12, "{rate}");
        }
    }

    /// At small p the equation is s/(R·√(2p/3)): 1.2247 packets per round trip and root of p.
    #[test]
    fn at_small_loss_rates_it_is_the_square_root_law() {
        let rate = tcp_friendly_rate(Bytes::new(1000), 0.1, 1e-8);
        assert!((rate / (80_000.0 * 1.224_744_87 * 1e4) - 1.0).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn the_inverse_gives_the_rate_back_within_its_tolerance() {
        let packet = Bytes::new(1000);
        for rtt_s in [1e-3, 0.1, 2.0] {
            for p in [1e-12, 1e-6, 1e-3, 0.04, 0.7] {
                let rate = tcp_friendly_rate(packet, rtt_s, p);
                for tolerance in [0.05, 1e-9] {
                    let found = loss_event_rate_of(packet, rtt_s, rate, tolerance);
                    let share = tcp_friendly_rate(packet, rtt_s, found) / rate;
                    assert!((share - 1.0).abs() <= tolerance, "{p}: {found}");
                }
                let found = loss_event_rate_of(packet, rtt_s, rate, 1e-9);
                assert!((found / p - 1.0).abs() < 1e-8, "{p}: {found}");
            }
        }
        // less than p = 1 gives, 328.79 bit/s
        assert_eq!(loss_event_rate_of(packet, 0.1, 300.0, 0.05), 1.0);
        // more than for any p: the minimum
        assert!(loss_event_rate_of(packet, 0.1, 1e30, 0.05) < 1.1e-18);
    }
}
