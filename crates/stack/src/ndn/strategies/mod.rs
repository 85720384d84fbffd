//! Built-in NDN strategies, which are NFD's. Schemes can have others.
//!
//! The source is NFD's public source code and developer's guide.

mod asf;
mod best_route;
mod multicast;
mod suppression;
#[cfg(test)]
mod tests;
mod weighted;

use ambassador::Delegate;
use contract::{
    ArrivingData, ArrivingInterest, ArrivingNack, FibEntry, Name, ParamError, ParamInfo, ParamList,
    ParamTable, ParamValue, Pending, Strategy, StrategyCx, ambassador_impl_Strategy,
};
use units::Time;

pub use asf::Asf;
pub use best_route::BestRoute;
pub use multicast::Multicast;
pub use weighted::{Weighing, Weighted};

/// Reads parameters from a scenario.
type Read<T> = fn(&[(String, ParamValue)]) -> Result<T, ParamError>;

/// A row of the list of strategies.
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line that describes it.
    pub title: &'static str,
    /// Its parameters.
    pub params: fn() -> Vec<ParamInfo>,
    /// Reads parameters and returns all of them, with defaults.
    pub resolve: Read<ParamList>,
    make: Read<Known>,
}

macro_rules! strategies {
    ($($variant:ident($type:ty) = $module:ident, $title:literal;)*) => {
        /// All built-in strategies, sorted by name.
        pub const ALL: &[Entry] = &[$(Entry {
            name: stringify!($module),
            title: $title,
            params: <$module::Params as ParamTable>::table,
            resolve: |given| Ok(<$module::Params as ParamTable>::with(given)?.list()),
            make: |given| Ok(Known::$variant(<$type>::new(&ParamTable::with(given)?))),
        },)*];

        /// A built-in strategy.
        #[allow(missing_docs, reason = "each variant is the strategy of its name")]
        pub enum Known {
            $($variant($type),)*
        }

        /// Any strategy: a built-in one, or a scheme's.
        #[allow(missing_docs, reason = "each variant is the strategy of its name")]
        #[derive(Delegate)]
        #[delegate(Strategy)]
        pub enum Any<S> {
            $($variant($type),)*
            Other(S),
        }

        impl<S> From<Known> for Any<S> {
            fn from(known: Known) -> Self {
                match known { $(Known::$variant(algorithm) => Self::$variant(algorithm),)* }
            }
        }
    };
}

strategies! {
    Asf(Asf) = asf, "the face with the shortest round-trip time; others are probed";
    BestRoute(BestRoute) = best_route, "the face with the lowest cost; the next one for a retransmitted Interest";
    Multicast(Multicast) = multicast, "all faces at once";
    Weighted(Weighted) = weighted, "a random face, drawn by weight";
}

/// The built-in strategy called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Makes the strategy. Fails on an unknown or invalid parameter.
    pub fn make<S>(&self, given: &[(String, ParamValue)]) -> Result<Any<S>, ParamError> {
        (self.make)(given).map(Any::from)
    }
}

/// Sends a NACK to the downstream that has just requested, unless an upstream can still answer.
fn give_up(interest: &ArrivingInterest<'_>, reason: contract::NackReason, cx: &mut dyn StrategyCx) {
    let waiting =
        (0..).map_while(|index| cx.upstream(interest.pending, index)).any(|record| record.refused.is_none());
    if !waiting {
        cx.send_nack(interest.pending, interest.from, reason);
    }
}
