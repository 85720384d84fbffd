//! Queue disciplines: who waits at a port, who is sent next, who is dropped or marked. Drop-tail is the port's own, in `sim`.
//!
//! A discipline that scenarios can select is one file and one line of the list below: see `docs/internals/queue-disciplines.md`.

pub mod codel;
pub mod red;
mod round_robin;
#[cfg(test)]
mod testing;

use ambassador::Delegate;
use contract::{
    Backlog, PacketCx, PacketId, ParamError, ParamInfo, ParamList, ParamTable, ParamValue, QueueDiscipline,
    QueueLimit, Verdict, ambassador_impl_QueueDiscipline,
};

pub use round_robin::RoundRobin;

/// A queue discipline that scenarios can select (active queue management). Its name is that of its module.
pub trait ActiveQueue: QueueDiscipline + Sized {
    /// What it drops or marks, and where it is specified: one sentence.
    const TITLE: &'static str;

    /// Its parameters.
    type Params: ParamTable;

    /// An empty queue.
    fn new(params: &Self::Params, limit: QueueLimit) -> Self;

    /// Whether it marks packets that understand marks.
    fn can_mark(params: &Self::Params) -> bool;
}

/// Reads the parameters that a scenario gives.
type Read<T> = fn(&[(String, ParamValue)]) -> Result<T, ParamError>;

/// One row of the list.
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One sentence.
    pub title: &'static str,
    /// Its parameters.
    pub params: fn() -> Vec<ParamInfo>,
    /// Reads a list of parameters and writes them all, defaults filled in.
    pub resolve: Read<ParamList>,
    /// Reads a list of parameters.
    pub read: Read<DisciplineSpec>,
}

macro_rules! disciplines {
    ($($variant:ident($type:ty) = $module:ident;)*) => {
        /// All that scenarios can select, in the order of names.
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

            /// Its parameters, as a scenario would write them.
            pub fn list(&self) -> ParamList {
                match self { $(Self::$variant(params) => params.list(),)* }
            }

            /// Whether it marks packets that understand marks.
            pub fn can_mark(&self) -> bool {
                match self { $(Self::$variant(params) => <$type>::can_mark(params),)* }
            }

            /// An empty queue.
            pub fn build(&self, limit: QueueLimit) -> AnyQueue {
                match self { $(Self::$variant(params) => AnyQueue::$variant(<$type>::new(params, limit)),)* }
            }
        }

        /// Any queue that is not drop-tail.
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
    Codel(codel::Codel) = codel;
    Red(red::Red) = red;
}

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
