//! Passes of satellites in low Earth orbit (LEO): rate and delay of a link from the geometry of orbit and elevation.
//!
//! A satellite in a circular orbit of height h moves over a spherical Earth by ω = √(GM / (R + h)³); the rotation of
//! the Earth is left out. At time t after it is nearest, and with the angle β between its ground track and the user,
//! the central angle γ between user and satellite and their distance d are
//!
//! - cos γ = cos β · cos ωt, and d² = R² + (R + h)² − 2 R (R + h) cos γ (cosine formula).
//!
//! It is used above a minimum elevation ε, which is at cos(γ + ε) = R cos ε / (R + h). Every 15 s the user is handed
//! over to another satellite, which is in view for these 15 s: β and t are uniform among those for which it is. A bit
//! goes up to the satellite and down to a gateway near the user, so that the delay is 2 d / c. The rate is that of
//! Shannon with the path loss of free space, peak · log(1 + S (h/d)²) / log(1 + S), and 0 for 100 ms after a handover.

use contract::Random;
use units::{Duration, Rate, math};

use super::{PERIOD, STEP};
use crate::schema::trace::Orbit;

const EARTH_RADIUS_KM: f64 = 6371.0;
/// Gravitational constant times mass of the Earth, in km³/s² (WGS 84).
const GM: f64 = 398_600.441_8;
const LIGHT_KM_PER_S: f64 = 299_792.458;
/// Time between two handovers: terminals of Starlink are scheduled every 15 s (Tanveer et al., "Making Sense of
/// Constellations", 2023).
const SLOT_S: f64 = 15.0;
/// Length of an interruption, and the rate and the signal-to-noise ratio of a satellite in the zenith. These numbers
/// are ours.
const HANDOVER_S: f64 = 0.1;
const PEAK_MBPS: f64 = 200.0;
const ZENITH_SNR: f64 = 31.6;

/// The rate and the delay of each step.
pub(super) fn steps(orbit: Orbit, seed: u64) -> Vec<(Rate, Duration)> {
    let mut random = Random::new(seed, "trace.leo_pass", "passes");
    let step_s = STEP.as_secs_f64();
    let per_slot = (SLOT_S / step_s).round() as u64;
    let silent = (HANDOVER_S / step_s).round() as u64;
    let mut pass = Pass::draw(orbit, &mut random);
    let steps = (0..PERIOD.as_nanos() / STEP.as_nanos()).map(|step| {
        let within = step % per_slot;
        if step > 0 && within == 0 {
            pass = Pass::draw(orbit, &mut random);
        }
        let distance_km = pass.distance_km(within as f64 * step_s);
        let interrupted = step >= per_slot && within < silent;
        let rate = if interrupted { Rate::ZERO } else { rate(orbit, distance_km) };
        (rate, Duration::from_secs_f64(2.0 * distance_km / LIGHT_KM_PER_S))
    });
    steps.collect()
}

/// The rate over a distance, in whole kbit/s.
fn rate(orbit: Orbit, distance_km: f64) -> Rate {
    let near = orbit.height_km / distance_km;
    let share = math::ln(1.0 + ZENITH_SNR * near * near) / math::ln(1.0 + ZENITH_SNR);
    Rate::from_kbps((PEAK_MBPS * share * 1000.0).round() as u64)
}

/// The part of the pass of one satellite that a slot uses.
struct Pass {
    orbit: Orbit,
    cos_beta: f64,
    /// When the slot begins, in seconds after the satellite is nearest.
    begins_s: f64,
}

impl Pass {
    /// A satellite that is in view for a slot.
    fn draw(orbit: Orbit, random: &mut Random) -> Self {
        let (omega, edge) = (angular_speed(orbit), reach(orbit));
        // the largest β whose pass lasts a slot
        let widest = acos(math::cos(edge) / math::cos(omega * SLOT_S / 2.0));
        let cos_beta = math::cos(widest * random.unit());
        let half_s = acos(math::cos(edge) / cos_beta) / omega;
        Self { orbit, cos_beta, begins_s: -half_s + (2.0 * half_s - SLOT_S) * random.unit() }
    }

    /// Distance between user and satellite at a time of the slot.
    fn distance_km(&self, at_s: f64) -> f64 {
        let (near, far) = (EARTH_RADIUS_KM, EARTH_RADIUS_KM + self.orbit.height_km);
        let cos_gamma = self.cos_beta * math::cos(angular_speed(self.orbit) * (self.begins_s + at_s));
        (near * near + far * far - 2.0 * near * far * cos_gamma).sqrt()
    }
}

/// Angular speed of a circular orbit in rad/s.
fn angular_speed(orbit: Orbit) -> f64 {
    (GM / math::cube(EARTH_RADIUS_KM + orbit.height_km)).sqrt()
}

/// The central angle at which a satellite is at the minimum elevation.
fn reach(orbit: Orbit) -> f64 {
    let elevation = orbit.min_elevation_deg.to_radians();
    acos(EARTH_RADIUS_KM * math::cos(elevation) / (EARTH_RADIUS_KM + orbit.height_km)) - elevation
}

fn acos(x: f64) -> f64 {
    std::f64::consts::FRAC_PI_2 - math::asin(x.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: Orbit = Orbit::DEFAULT;

    #[test]
    fn a_satellite_at_550_km_has_its_period_its_reach_and_its_longest_pass() {
        // 2π √((6371 + 550)³ / GM) = 5730 s
        let period_s = std::f64::consts::TAU / angular_speed(SHELL);
        assert!((period_s - 5730.1).abs() < 0.5, "{period_s}");
        // acos(6371 cos 25° / 6921) − 25° = 33.46° − 25° = 8.46°, and 2 · 8.46° / 360° · 5730 s = 269.3 s
        let reach_deg = reach(SHELL).to_degrees();
        assert!((reach_deg - 8.46).abs() < 0.01, "{reach_deg}");
        let longest_s = 2.0 * reach(SHELL) / angular_speed(SHELL);
        assert!((longest_s - 269.3).abs() < 0.5, "{longest_s}");
    }

    #[test]
    fn the_distance_is_the_height_in_the_zenith_and_1123_km_at_25_degrees() {
        let pass = Pass { orbit: SHELL, cos_beta: 1.0, begins_s: 0.0 };
        assert!((pass.distance_km(0.0) - 550.0).abs() < 1e-6);
        // √((R sin ε)² + 2 R h + h²) − R sin ε with ε = 25°: √(2692.5² + 7 310 600) − 2692.5 = 1123.3
        let edge = pass.distance_km(reach(SHELL) / angular_speed(SHELL));
        assert!((edge - 1123.3).abs() < 0.5, "{edge}");
        assert_eq!(rate(SHELL, 550.0), Rate::from_mbps(200));
        // log(1 + 31.6 · 0.2397) / log 32.6 = 2.150 / 3.484 = 0.617
        let mbps = rate(SHELL, edge).as_bps_f64() / 1e6;
        assert!((mbps - 123.4).abs() < 0.3, "{mbps}");
    }

    #[test]
    fn every_satellite_is_in_view_for_its_slot_and_each_handover_interrupts() {
        let steps = steps(SHELL, 1);
        assert_eq!(steps.len(), 30_000);
        // 2 · 550 km and 2 · 1123.3 km at the speed of light
        let (low, high) = (Duration::from_micros(3669), Duration::from_micros(7495));
        assert!(steps.iter().all(|(_, delay)| (low..=high).contains(delay)));
        let silent = steps.iter().filter(|(rate, _)| *rate == Rate::ZERO).count();
        assert_eq!(silent, 39 * 5, "100 ms of each slot but the first");
        let jumps: Vec<usize> = (1..steps.len())
            .filter(|&i| steps[i].1.as_nanos().abs_diff(steps[i - 1].1.as_nanos()) > 50_000)
            .collect();
        assert!(jumps.len() > 30 && jumps.iter().all(|i| i % 750 == 0), "only handovers jump: {jumps:?}");
        // within a slot the distance changes by at most the speed of 7.6 km/s: 1 µs in 20 ms, both ways
        let within = (1..steps.len()).filter(|i| i % 750 != 0);
        let fastest = within.map(|i| steps[i].1.as_nanos().abs_diff(steps[i - 1].1.as_nanos())).max();
        assert!(fastest.is_some_and(|ns| (400..1020).contains(&ns)), "{fastest:?}");
    }

    #[test]
    fn a_higher_orbit_has_a_longer_delay() {
        let high = Orbit { height_km: 1200.0, ..SHELL };
        let mean =
            |orbit| steps(orbit, 1).iter().map(|(_, delay)| delay.as_secs_f64()).sum::<f64>() / 30_000.0;
        assert!(mean(high) > 1.7 * mean(SHELL), "{} {}", mean(high), mean(SHELL));
    }
}
