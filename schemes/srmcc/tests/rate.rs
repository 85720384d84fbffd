//! The rate equations.

use super::super::adaptation::{Adaptation, Known, State};
use super::*;

fn controller() -> Adaptation {
    Adaptation::new(&Params::default())
}

fn next(controller: &Adaptation, rate: f64, fair: f64, o_max: f64, o_min: f64) -> f64 {
    controller.next(&Known { o_max, o_min, fair }, rate)
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-9 * wanted, "{found} is not {wanted}");
}

/// S000-01, eq. 5.
#[test]
fn states_change_exactly_at_their_thresholds() {
    let states = [0.0, 0.25, 0.250001, 0.5, 0.500001].map(|o| controller().state(o));
    assert_eq!(states, [State::None, State::Light, State::Moderate, State::Moderate, State::Heavy]);
}

/// S000-02, eq. 3, eq. 4, eq. 6 to eq. 10, Algorithm 1.
#[test]
fn rates_are_those_of_the_vectors() {
    let table: toml::Table = include_str!("../vectors.toml").parse().expect("a table");
    let rows = |key: &str| -> Vec<[f64; 5]> {
        let rows = table[key].as_array().expect("rows");
        let row = |row: &toml::Value| {
            let numbers = row.as_array().expect("a row").iter().map(|x| x.as_float().expect("a number"));
            numbers.collect::<Vec<_>>().try_into().expect("five numbers")
        };
        rows.iter().map(row).collect()
    };
    let (candidates, selections) = (rows("candidates"), rows("selections"));
    assert_eq!((candidates.len(), selections.len()), (15, 6));
    for [rate, fair, occupancy, state, wanted] in candidates {
        assert_eq!(f64::from(controller().state(occupancy) as u8), state);
        close(controller().candidate(occupancy, rate, fair), wanted);
    }
    for [rate, fair, o_max, o_min, wanted] in selections {
        close(next(&controller(), rate, fair, o_max, o_min), wanted);
    }
}

/// Eq. 9: above the fair share the first of the two is never less, so the rate is always halved.
#[test]
fn a_heavy_queue_halves_whatever_its_occupancy() {
    for percent in 51..=100 {
        close(controller().candidate(f64::from(percent) / 100.0, 1500.0, 1000.0), 750.0);
    }
}

/// S000-D6: one queue full, another empty.
#[test]
fn with_an_idle_branch_the_heavy_state_multiplies_by_a_half_plus_three_halves_gamma() {
    let factor = |gamma| next(&Adaptation { gamma, ..controller() }, 1500.0, 1000.0, 0.75, 0.0) / 1500.0;
    close(factor(0.0), 0.5);
    close(factor(0.15), 0.725);
    close(factor(0.3), 0.95);
    // no decrease is left: TCP would starve
    close(factor(1.0 / 3.0), 1.0);
    close(factor(0.5), 1.25);
    // above twice the fair share eq. 4 cuts more, and still too little
    let limited = |gamma| next(&Adaptation { gamma, ..controller() }, 8000.0, 1000.0, 0.75, 0.0);
    close(limited(0.15), 0.85 * 1000.0 + 0.15 * 16_000.0);
    assert!(limited(0.5) > 8000.0);
}

/// Eq. 10 with eq. 4: the rate settles at R_fair·(1 − γ)/(1 − 2γ) when one queue is light or moderate and another
/// empty.
#[test]
fn above_the_fair_share_an_idle_branch_lifts_the_rate_by_a_fifth() {
    let mut rate = 3000.0;
    for _ in 0..60 {
        rate = next(&controller(), rate, 1000.0, 0.4, 0.0);
    }
    close(rate, 1000.0 * 0.85 / 0.7);
    // limited as the others it stays at the fair share
    let clamped = Adaptation { clamp_empty: true, ..controller() };
    close(next(&clamped, rate, 1000.0, 0.4, 0.0), 1000.0);
}

/// S000-09, §4.2.4.
#[test]
fn a_heavy_queue_that_others_fill_pushes_the_rate_up_to_the_fair_share() {
    for (o_max, o_min) in [(0.9, 0.9), (1.0, 0.6), (0.7, 0.0)] {
        let mut rate = 8.0;
        for _ in 0..10 {
            let raised = next(&controller(), rate, 1667.0, o_max, o_min);
            assert!(raised >= (2.0_f64 * rate).min(1667.0) - 1e-9, "{rate} becomes {raised}");
            rate = raised;
            if rate >= 1667.0 {
                break;
            }
        }
        assert!(rate >= 1667.0, "{rate}");
    }
}

/// S000-10, §4.2.1.
#[test]
fn while_all_queues_are_empty_the_rate_doubles() {
    let (mut rate, mut cycles) = (50.0, 0);
    while rate < 5000.0 {
        rate = next(&controller(), rate, 5000.0, 0.0, 0.0);
        cycles += 1;
    }
    // ⌈log₂(5000/50)⌉
    assert_eq!((rate, cycles), (6400.0, 7));
}

/// S000-11, §4.2.3.
#[test]
fn a_moderate_queue_lets_the_rate_grow_ever_less_and_never_fall() {
    let factor = |o| controller().candidate(o, 1.0, f64::INFINITY);
    let factors: Vec<f64> = (1..=250).map(|i| factor(0.25 + f64::from(i) / 1000.0)).collect();
    assert!(factors.iter().all(|factor| (1.0..=1.0625).contains(factor)), "{factors:?}");
    assert!(factors.windows(2).all(|pair| pair[1] <= pair[0]), "{factors:?}");
    // the controller jumps there: a light queue at the threshold does not let it grow at all
    close(factor(0.25), 1.0);
    assert!(factors[0] > 1.06);
}

/// §4.3: with one queue alone there is nothing to select from.
#[test]
fn gamma_is_inert_where_maximum_and_minimum_occupancy_are_the_same() {
    let rates =
        [0.0, 0.15, 0.333].map(|gamma| next(&Adaptation { gamma, ..controller() }, 900.0, 1000.0, 0.3, 0.3));
    assert!(rates[0] == rates[1] && rates[1] == rates[2], "{rates:?}");
    let same = Adaptation { o_min: MaxRateQueue::Same, ..controller() };
    close(next(&same, 2000.0, 1000.0, 0.75, 0.0), 1000.0);
}

/// Our choice: where the source's own link is the bottleneck, no router ever sees a queue.
#[test]
fn the_rate_stays_below_sixteen_fair_shares() {
    let mut rate = 50.0;
    for _ in 0..20 {
        rate = next(&controller(), rate, 1000.0, 0.0, 0.0);
    }
    assert_eq!(rate, 16_000.0);
    // and does not grow where nobody knows a fair share
    assert_eq!(next(&controller(), 900.0, f64::INFINITY, 0.0, 0.0), 900.0);
    assert_eq!(next(&controller(), 900.0, f64::INFINITY, 0.4, 0.4), 900.0);
}

/// Our choice: over plain IP nobody measures.
#[test]
fn where_nobody_measured_only_a_fair_share_lets_the_rate_grow() {
    assert_eq!(next(&controller(), 300.0, 1000.0, 0.0, 1.0), 600.0);
    assert_eq!(next(&controller(), 900.0, 1000.0, 0.0, 1.0), 1000.0);
    assert_eq!(next(&controller(), 900.0, f64::INFINITY, 0.0, 1.0), 900.0);
}
