//! The transport stacks that are not ours: which this build contains, and what each takes.
//!
//! A stack is a crate in `crates/stacks` with the interface of `stack_quinn`, a word of [`StackWord`], a feature of this crate, and a line below.

use sim::MakeEnds;
use units::Bytes;

use crate::schema::file::StackWord;

/// A stack that this build contains.
pub(crate) struct Stack {
    /// Its own controllers; the first is the default.
    pub(crate) own: &'static [&'static str],
    /// Controllers of its own that cannot be used, and why.
    pub(crate) refused: &'static [(&'static str, &'static str)],
    /// Schemes of the catalogue that can be plugged into it.
    pub(crate) schemes: &'static [&'static str],
    /// Smallest path MTU.
    pub(crate) min_packet: Bytes,
    pub(crate) ends: MakeEnds,
}

/// `Word: "feature" = crate;` for each stack. The feature has the name of the word.
macro_rules! stacks {
    ($($Word:ident: $feature:literal = $module:ident;)+) => {
        impl StackWord {
            /// The stack; `None` if this build does not contain it.
            pub(crate) fn contained(self) -> Option<Stack> {
                match self {$(
                    #[cfg(feature = $feature)]
                    Self::$Word => Some(Stack {
                        own: $module::OWN,
                        refused: $module::REFUSED,
                        schemes: $module::NAMES,
                        min_packet: $module::MIN_MTU,
                        ends: MakeEnds(|flow, stack| {
                            let controller = match &stack.controller {
                                Some(own) => $module::Controller::Own(own.clone()),
                                None => {
                                    let scheme = flow.scheme.clone().unwrap_or_default();
                                    $module::Controller::Scheme(scheme, flow.params.clone())
                                }
                            };
                            let (mtu, size) = (stack.packet, stack.size);
                            $module::ends(&$module::Config { controller, mtu, size })
                        }),
                    }),
                    #[cfg(not(feature = $feature))]
                    Self::$Word => None,
                )+}
            }
        }
    };
}

stacks! {
    Quinn: "quinn" = stack_quinn;
    Noq: "noq" = stack_noq;
}
