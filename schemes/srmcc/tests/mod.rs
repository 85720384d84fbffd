//! One test per claim of the paper, by part.

mod ends;
mod nodes;
mod rate;

use contract::{GroupId, Label, ParamTable};
use units::Time;

use super::headers::Mcc;
use super::*;
use crate::shared::stream_testing::ms;

/// A message with these occupancies and this fair share, about data that left `age` ago.
fn mcc(now: Time, age_ms: u64, round: u32, max: f64, min: f64, fair: Rate) -> Label {
    let t_echo = now - Duration::from_millis(age_ms);
    let t_adapt = Duration::from_millis(400);
    Mcc { min_fair: fair, max_qocc: max, min_qocc: min, round, t_echo, t_adapt }.encode()
}

fn read(label: Label) -> Mcc {
    Mcc::decode(label).expect("a message")
}

const GROUP: GroupId = GroupId(7);
const OTHER: GroupId = GroupId(8);

/// S000-12: Table 1. The queue limit, the simulation's length and the constant bit rate are the scenario's.
#[test]
fn the_constants_are_those_of_table_1() {
    let params = Params::default();
    assert_eq!((params.oth1, params.oth2), (0.25, 0.5));
    assert_eq!((params.alpha, params.gamma, params.cycle), (0.9, 0.15, 4.0));
    assert_eq!(params.initial_rate, Rate::from_kbps(50));
}

/// S000-D6: a share of a third or more would starve others, unless the fair share limits the doubling.
#[test]
fn a_share_from_which_on_the_rate_cannot_fall_is_refused_by_name() {
    let given = |gamma: f64, clamp: bool| {
        Params::with(&[("gamma".to_owned(), gamma.into()), ("clamp_empty".to_owned(), clamp.into())])
    };
    for gamma in [0.334, 0.5, 1.0] {
        let error = given(gamma, false).expect_err("too much");
        assert_eq!(error.name, "gamma");
        assert!(error.message.ends_with("is above 0.333, which needs `clamp_empty`"), "{}", error.message);
        assert_eq!(given(gamma, true).map(|params| params.gamma), Ok(gamma));
    }
    assert!(given(0.333, false).is_ok() && given(1.1, true).is_err());
}

#[test]
fn a_queue_is_lightly_occupied_before_it_is_moderately() {
    let given = |oth1: f64, oth2: f64| {
        Params::with(&[("oth1".to_owned(), oth1.into()), ("oth2".to_owned(), oth2.into())])
    };
    assert!(given(0.6, 0.9).is_ok() && given(0.4, 0.4).is_ok());
    assert_eq!(
        given(0.9, 0.6).expect_err("the wrong way round").message,
        "`oth1` of 0.9 is above `oth2` of 0.6"
    );
}
