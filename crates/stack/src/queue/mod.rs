//! Queue disciplines: which packets wait at a port, which is sent next, which are dropped or marked. Drop-tail is part
//! of the port, in `sim`.
//!
//! A discipline that scenarios can select is one file and two lines of this one, its `pub mod` and its line in the list
//! below: see `docs/internals/queue-disciplines.md`.

pub mod cake;
pub mod codel;
pub mod dualpi2;
mod flows;
pub mod fq;
pub mod fq_codel;
pub mod pfifo_head_drop;
pub mod pie;
pub mod red;
mod round_robin;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod waiting;

use ambassador::Delegate;
use contract::{
    Backlog, PacketCx, PacketId, ParamError, ParamInfo, ParamList, ParamTable, ParamValue, QueueDiscipline,
    QueueLimit, Verdict, ambassador_impl_QueueDiscipline,
};
use units::Time;

pub use round_robin::RoundRobin;

/// A queue discipline that scenarios can select (active queue management). Its name is the name of its module.
pub trait ActiveQueue: QueueDiscipline + Sized {
    /// One sentence: what it drops or marks, and its specification.
    const TITLE: &'static str;

    /// Its parameters.
    type Params: ParamTable;

    /// An empty queue.
    fn new(params: &Self::Params, limit: QueueLimit) -> Self;

    /// Whether it marks ECN-capable packets.
    fn can_mark(params: &Self::Params) -> bool;
}

/// Reads parameters from a scenario.
type Read<T> = fn(&[(String, ParamValue)]) -> Result<T, ParamError>;

/// A row of the list of disciplines.
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One sentence that describes it.
    pub title: &'static str,
    /// Its parameters.
    pub params: fn() -> Vec<ParamInfo>,
    /// Reads parameters and returns all of them, with defaults.
    pub resolve: Read<ParamList>,
    /// Reads parameters and returns the discipline with them.
    pub read: Read<DisciplineSpec>,
}

macro_rules! disciplines {
    ($($variant:ident($type:ty) = $module:ident;)*) => {
        /// All disciplines that scenarios can select, sorted by name.
        pub const ALL: &[Entry] = &[$(Entry {
            name: stringify!($module),
            title: <$type as ActiveQueue>::TITLE,
            params: <$module::Params as ParamTable>::table,
            resolve: |given| Ok(<$module::Params as ParamTable>::with(given)?.list()),
            read: |given| Ok(DisciplineSpec::$variant(ParamTable::with(given)?)),
        },)*];

        /// A discipline with its parameters.
        #[allow(missing_docs, reason = "each variant is the discipline of its name")]
        #[derive(Clone, Debug, PartialEq)]
        pub enum DisciplineSpec {
            $($variant($module::Params),)*
        }

        impl DisciplineSpec {
            /// Its name in scenarios.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => stringify!($module),)* }
            }

            /// Its parameters, as in a scenario.
            pub fn list(&self) -> ParamList {
                match self { $(Self::$variant(params) => params.list(),)* }
            }

            /// Whether it marks ECN-capable packets.
            pub fn can_mark(&self) -> bool {
                match self { $(Self::$variant(params) => <$type>::can_mark(params),)* }
            }

            /// An empty queue.
            pub fn build(&self, limit: QueueLimit) -> AnyQueue {
                match self { $(Self::$variant(params) => AnyQueue::$variant(<$type>::new(params, limit)),)* }
            }
        }

        /// Any queue except drop-tail.
        #[allow(missing_docs, reason = "each variant is the discipline of its name")]
        #[derive(Debug, Delegate)]
        #[delegate(QueueDiscipline)]
        pub enum AnyQueue {
            RoundRobin(RoundRobin),
            $($variant($type),)*
        }
    };
}

disciplines! {
    Cake(cake::Cake) = cake;
    Codel(codel::Codel) = codel;
    Dualpi2(dualpi2::Dualpi2) = dualpi2;
    Fq(fq::Fq) = fq;
    FqCodel(fq_codel::FqCodel) = fq_codel;
    PfifoHeadDrop(pfifo_head_drop::HeadDrop) = pfifo_head_drop;
    Pie(pie::Pie) = pie;
    Red(red::Red) = red;
}

/// The discipline called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
