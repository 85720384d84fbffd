//! The settings of `tcp.like = "linux"`. Settings of TCP are in [`stack::tcp::Config::linux`]; this module has
//! parameters of schemes.

use contract::ParamValue;

use crate::schema::file::Flow;
use crate::schema::tcp::LikeWord;

/// Whether the flow is to be as TCP of Linux where the scenario leaves that open.
pub(super) fn is_wanted(table: &Flow) -> bool {
    let written = table.tcp.present().and_then(|tcp| tcp.value.like.present()).map(|at| at.value);
    match written {
        Some(like) => like == LikeWord::Linux,
        None => !table.kernel.is_missing(),
    }
}

/// Parameters with which a scheme does what the kernel's does.
pub(super) fn params(scheme: &str) -> Vec<(&'static str, ParamValue)> {
    schemes::like_linux(scheme)
}
