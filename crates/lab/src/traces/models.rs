//! Models of links. They are ours, not measurements of a network: each has the features that a kind of link is known
//! for, with round numbers.
//!
//! In steps of 20 ms the rate is `mean · exp(s + f) · interruptions`, at most `peak`:
//!
//! - s is slow: shadowing, log-normal with an exponential correlation over time (M. Gudmundson, "Correlation model for
//!   shadow fading in mobile radio systems", 1991), as a first-order autoregression; or it is drawn again at every
//!   change of the beam.
//! - f is fast: fading and the load of others, the same with a shorter correlation.
//! - an interruption multiplies the rate by a factor for a while; the times between interruptions are constant or
//!   exponential.
//!
//! Both s and f have their mean at −σ²/2, so that the mean rate without interruptions and peak is `mean`.

use contract::Random;
use sim::RateTrace;
use units::{Duration, Rate, math};

use super::{PERIOD, STEP, leo};
use crate::schema::trace::{Orbit, TraceModel};

struct Model {
    mean_mbps: f64,
    peak_mbps: f64,
    slow: Slow,
    /// Standard deviation of the logarithm, and the time in seconds in which the correlation decays to 1/e.
    fast: (f64, f64),
    interruptions: &'static [Interruption],
}

/// The slow part of the logarithm of the rate.
enum Slow {
    /// Standard deviation, and the time in seconds in which the correlation decays to 1/e.
    Drifts(f64, f64),
    /// Standard deviation, and the seconds after which it is drawn again.
    Redrawn(f64, f64),
}

struct Interruption {
    /// Seconds between the beginnings of two.
    every: Span,
    /// Seconds that one lasts.
    lasts: Span,
    /// What remains of the rate.
    factor: f64,
}

/// A time in seconds, always the same or exponential.
enum Span {
    Exactly(f64),
    OnAverage(f64),
}

impl Span {
    fn draw(&self, random: &mut Random) -> f64 {
        match *self {
            Self::Exactly(span) => span,
            Self::OnAverage(mean) => random.exponential(mean),
        }
    }
}

/// A handover within LTE or 5G interrupts for about 50 ms (3GPP TR 36.881), here three steps of 20 ms.
const HANDOVER: Span = Span::Exactly(0.06);

/// The parameters of a model; `None` for the one by geometry.
const fn model(of: TraceModel) -> Option<Model> {
    use Span::{Exactly, OnAverage};
    let model = match of {
        TraceModel::LteStationary => Model {
            mean_mbps: 30.0,
            peak_mbps: 75.0,
            slow: Slow::Drifts(0.1, 60.0),
            fast: (0.3, 0.2),
            interruptions: &[],
        },
        TraceModel::LteWalking => Model {
            mean_mbps: 20.0,
            peak_mbps: 75.0,
            slow: Slow::Drifts(0.5, 25.0),
            fast: (0.3, 0.2),
            interruptions: &[],
        },
        TraceModel::LteDriving => Model {
            mean_mbps: 15.0,
            peak_mbps: 75.0,
            slow: Slow::Drifts(0.7, 2.5),
            fast: (0.4, 0.1),
            interruptions: &[Interruption { every: OnAverage(30.0), lasts: HANDOVER, factor: 0.0 }],
        },
        TraceModel::LteTunnel => Model {
            mean_mbps: 15.0,
            peak_mbps: 75.0,
            slow: Slow::Drifts(0.7, 2.5),
            fast: (0.4, 0.1),
            interruptions: &[
                Interruption { every: OnAverage(30.0), lasts: HANDOVER, factor: 0.0 },
                Interruption { every: OnAverage(60.0), lasts: OnAverage(6.0), factor: 0.0 },
            ],
        },
        TraceModel::LteTrain => Model {
            mean_mbps: 10.0,
            peak_mbps: 75.0,
            slow: Slow::Drifts(0.9, 0.5),
            fast: (0.4, 0.1),
            interruptions: &[
                Interruption { every: OnAverage(12.0), lasts: HANDOVER, factor: 0.0 },
                Interruption { every: OnAverage(90.0), lasts: OnAverage(2.0), factor: 0.0 },
            ],
        },
        TraceModel::NrDriving => Model {
            mean_mbps: 120.0,
            peak_mbps: 400.0,
            slow: Slow::Drifts(0.7, 2.5),
            fast: (0.4, 0.1),
            interruptions: &[Interruption { every: OnAverage(20.0), lasts: HANDOVER, factor: 0.0 }],
        },
        TraceModel::NrMmwave => Model {
            mean_mbps: 800.0,
            peak_mbps: 1500.0,
            slow: Slow::Drifts(0.3, 5.0),
            fast: (0.2, 0.1),
            interruptions: &[Interruption { every: OnAverage(5.0), lasts: OnAverage(0.5), factor: 0.03 }],
        },
        TraceModel::WifiHome => Model {
            mean_mbps: 120.0,
            peak_mbps: 250.0,
            slow: Slow::Drifts(0.2, 20.0),
            fast: (0.2, 0.1),
            interruptions: &[Interruption { every: OnAverage(2.0), lasts: OnAverage(0.1), factor: 0.3 }],
        },
        TraceModel::WifiCrowded => Model {
            mean_mbps: 20.0,
            peak_mbps: 60.0,
            slow: Slow::Drifts(0.4, 10.0),
            fast: (0.6, 0.1),
            interruptions: &[Interruption { every: OnAverage(0.6), lasts: OnAverage(0.12), factor: 0.1 }],
        },
        TraceModel::Leo => Model {
            mean_mbps: 100.0,
            peak_mbps: 250.0,
            slow: Slow::Redrawn(0.4, 15.0),
            fast: (0.15, 1.0),
            interruptions: &[Interruption { every: Exactly(15.0), lasts: Exactly(0.1), factor: 0.0 }],
        },
        TraceModel::Dsl => Model {
            mean_mbps: 16.0,
            peak_mbps: 16.0,
            slow: Slow::Drifts(0.0, 1.0),
            fast: (0.0, 1.0),
            interruptions: &[Interruption { every: OnAverage(10.0), lasts: Exactly(0.02), factor: 0.5 }],
        },
        TraceModel::Cable => Model {
            mean_mbps: 150.0,
            peak_mbps: 250.0,
            slow: Slow::Drifts(0.3, 8.0),
            fast: (0.1, 0.2),
            interruptions: &[],
        },
        TraceModel::LeoPass => return None,
    };
    Some(model)
}

/// The rate of each step, in whole kbit/s. The same model and seed give the same rates on all machines.
pub(super) fn steps(of: TraceModel, seed: u64) -> Vec<Rate> {
    let Some(model) = model(of) else {
        return leo::steps(Orbit::DEFAULT, seed).into_iter().map(|(rate, _)| rate).collect();
    };
    let random = |part: &str| Random::new(seed, &format!("trace.{}", of.word()), part);
    let step_s = STEP.as_secs_f64();
    let count = PERIOD.as_nanos() / STEP.as_nanos();
    let slow: Vec<f64> = match model.slow {
        Slow::Drifts(deviation, decay_s) => {
            autoregression(random("slow"), deviation, decay_s, count).collect()
        }
        Slow::Redrawn(deviation, every_s) => {
            let (mut random, per) = (random("slow"), (every_s / step_s) as usize);
            let levels = (0..count as usize).step_by(per).map(|_| deviation * normal(&mut random));
            let levels: Vec<f64> = levels.collect();
            (0..count as usize).map(|step| levels[step / per] - deviation * deviation / 2.0).collect()
        }
    };
    let fast = autoregression(random("fast"), model.fast.0, model.fast.1, count);
    let mut factors = vec![1.0; count as usize];
    for (number, interruption) in model.interruptions.iter().enumerate() {
        interrupt(&mut factors, interruption, random(&format!("interruption {number}")));
    }
    let rates = slow.iter().zip(fast).zip(factors).map(|((slow, fast), factor)| {
        let mbps = (model.mean_mbps * math::exp(slow + fast)).min(model.peak_mbps) * factor;
        Rate::from_kbps((mbps * 1000.0).round() as u64)
    });
    rates.collect()
}

/// The trace of a model. Equal rates that follow each other are one step of it.
pub(super) fn trace(of: TraceModel, seed: u64, orbit: Orbit) -> RateTrace {
    if of != TraceModel::LeoPass {
        return with_rates(steps(of, seed));
    }
    let (rates, delays): (Vec<Rate>, Vec<Duration>) = leo::steps(orbit, seed).into_iter().unzip();
    with_rates(rates).with_delays(&changes(delays)).expect("a model has a delay at each step")
}

fn with_rates(steps: Vec<Rate>) -> RateTrace {
    RateTrace::rates(&changes(steps), PERIOD).expect("a model has rates above zero")
}

/// The steps at which a value changes, with their times.
pub(super) fn changes<T: Copy + PartialEq>(steps: Vec<T>) -> Vec<(Duration, T)> {
    let mut changes: Vec<(Duration, T)> = Vec::new();
    for (at_ns, value) in (0..).step_by(STEP.as_nanos() as usize).zip(steps) {
        if changes.last().is_none_or(|last| last.1 != value) {
            changes.push((Duration::from_nanos(at_ns), value));
        }
    }
    changes
}

/// A first-order autoregression with the mean −σ²/2, in steps.
fn autoregression(mut random: Random, deviation: f64, decay_s: f64, count: u64) -> impl Iterator<Item = f64> {
    // x ← ρ x + √(1 − ρ²) n,  ρ = exp(−Δ/τ), which has the variance 1   [Gudmundson 1991]
    let rho = math::exp(-STEP.as_secs_f64() / decay_s);
    let mut x = normal(&mut random);
    (0..count).map(move |_| {
        let now = x;
        x = rho * x + (1.0 - rho * rho).sqrt() * normal(&mut random);
        deviation * now - deviation * deviation / 2.0
    })
}

/// Standard normal, by the method of Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * math::ln(1.0 - random.unit())).sqrt();
    radius * math::cos(std::f64::consts::TAU * random.unit())
}

/// Multiplies the steps in which an interruption begins or lasts. One lasts at least a step.
fn interrupt(factors: &mut [f64], interruption: &Interruption, mut random: Random) {
    let step_s = STEP.as_secs_f64();
    let mut at_s = 0.0;
    loop {
        at_s += interruption.every.draw(&mut random);
        let lasts_s = interruption.lasts.draw(&mut random);
        let first = (at_s / step_s).round() as usize;
        if first >= factors.len() {
            return;
        }
        let last = first + ((lasts_s / step_s).round() as usize).max(1);
        let end = last.min(factors.len());
        factors[first..end].iter_mut().for_each(|factor| *factor *= interruption.factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_mbps(steps: &[Rate]) -> f64 {
        steps.iter().map(|rate| rate.as_bps_f64()).sum::<f64>() / steps.len() as f64 / 1e6
    }

    fn outages(steps: &[Rate]) -> Vec<usize> {
        let runs = steps.chunk_by(|a, b| (*a == Rate::ZERO) == (*b == Rate::ZERO));
        runs.filter(|run| run[0] == Rate::ZERO).map(<[Rate]>::len).collect()
    }

    #[test]
    fn there_are_thirteen_models_of_ten_minutes() {
        assert_eq!(TraceModel::ALL.len(), 13);
        for of in TraceModel::ALL {
            let trace = trace(*of, 1, Orbit::DEFAULT);
            assert_eq!(trace.period(), Duration::from_secs(600), "{}", of.word());
            let steps = steps(*of, 1);
            assert_eq!(steps.len(), 30_000);
            let (mean, peak) = (mean_mbps(&steps), model(*of).map_or(200.0, |model| model.peak_mbps));
            assert!((trace.mean().as_bps_f64() / 1e6 - mean).abs() < 1e-3, "{}", of.word());
            assert!(steps.iter().all(|rate| rate.as_bps_f64() <= peak * 1e6), "{}", of.word());
        }
    }

    #[test]
    fn a_seed_gives_a_trace_of_its_own() {
        assert_eq!(steps(TraceModel::LteWalking, 4), steps(TraceModel::LteWalking, 4));
        assert_ne!(steps(TraceModel::LteWalking, 4), steps(TraceModel::LteWalking, 5));
    }

    #[test]
    fn a_normal_draw_has_its_moments_and_an_autoregression_its_correlation() {
        let draws: Vec<f64> = autoregression(Random::new(1, "test", "x"), 1.0, 0.2, 400_000).collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        assert!((mean + 0.5).abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        // after ten steps of 20 ms, e⁻¹ = 0.368
        let products = draws.iter().zip(&draws[10..]).map(|(a, b)| (a - mean) * (b - mean));
        let correlation = products.sum::<f64>() / n / variance;
        assert!((correlation - 0.368).abs() < 0.02, "{correlation}");
    }

    #[test]
    fn a_satellite_is_handed_over_every_15_seconds() {
        let steps = steps(TraceModel::Leo, 1);
        // 39 times within 600 s, each 100 ms
        assert_eq!(outages(&steps), vec![5; 39]);
        let level = |pass: usize| mean_mbps(&steps[750 * pass + 5..750 * (pass + 1)]);
        let changed = (0..39).filter(|pass| (level(*pass) / level(pass + 1) - 1.0).abs() > 0.1).count();
        assert!(changed > 25, "{changed} of 39 have another level");
    }

    #[test]
    fn tunnels_are_outages_of_seconds_and_handovers_of_60_ms() {
        let lengths = outages(&steps(TraceModel::LteTunnel, 1));
        assert!(lengths.iter().any(|steps| *steps > 100), "{lengths:?}");
        assert!(lengths.iter().filter(|steps| **steps == 3).count() > 5, "{lengths:?}");
    }

    #[test]
    fn dsl_is_constant_but_for_single_steps() {
        let steps = steps(TraceModel::Dsl, 1);
        let full = steps.iter().filter(|rate| **rate == Rate::from_mbps(16)).count();
        assert!((29_900..30_000).contains(&full), "{full}");
        assert!(trace(TraceModel::Dsl, 1, Orbit::DEFAULT).mean() > Rate::from_kbps(15_900));
    }
}
