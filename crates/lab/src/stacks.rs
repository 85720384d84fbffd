//! The transport stacks that are not ours: which this build contains, and what each takes.
//!
//! A stack is a module and a feature of the crate `stacks`, a word of [`StackWord`], a feature of this crate, and an
//! arm below. A QUIC stack has the interface of `stacks::quinn`, and is a line.

use sim::{Encoder, MakeEnds};
use stack::quic::FlowControl;
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
    /// Smallest path MTU, and why.
    pub(crate) min_packet: (Bytes, &'static str),
    /// Its flow control, if it is QUIC.
    pub(crate) flow_control: Option<FlowControl>,
    /// Settings of its encoder, if it carries media.
    pub(crate) encoder: Option<Encoder>,
    pub(crate) ends: MakeEnds,
}

/// `Word: "feature" = module;` for each QUIC stack. The feature has the name of the word.
macro_rules! stacks {
    ($($Word:ident: $feature:literal = $module:ident;)+) => {
        impl StackWord {
            /// The stack; `None` if this build does not contain it.
            pub(crate) fn contained(self) -> Option<Stack> {
                match self {
                    $(
                    #[cfg(feature = $feature)]
                    Self::$Word => Some(Stack {
                        own: ::stacks::$module::OWN,
                        refused: ::stacks::$module::REFUSED,
                        schemes: ::stacks::$module::NAMES,
                        min_packet: (
                            ::stacks::MIN_MTU,
                            "a UDP payload of 1200 B and 28 B of headers [RFC 9000 §14]",
                        ),
                        flow_control: Some(FlowControl::default()),
                        encoder: None,
                        ends: MakeEnds(|flow, stack, log| {
                            let controller = match &stack.controller {
                                Some(own) => ::stacks::Controller::Own(own.clone()),
                                None => {
                                    let scheme = flow.scheme.as_deref().unwrap_or_default().to_owned();
                                    ::stacks::Controller::Scheme(scheme, flow.params.clone())
                                }
                            };
                            let (mtu, size, flow_control) = (stack.packet, stack.size, stack.flow_control);
                            ::stacks::$module::ends(&::stacks::Config { controller, mtu, size, flow_control }, log)
                        }),
                    }),
                    #[cfg(not(feature = $feature))]
                    Self::$Word => None,
                    )+
                    Self::Str0m => str0m(),
                }
            }
        }
    };
}

stacks! {
    Quinn: "quinn" = quinn;
    Noq: "noq" = noq;
}

#[cfg(feature = "str0m")]
#[expect(clippy::unnecessary_wraps, reason = "a build without it has none")]
fn str0m() -> Option<Stack> {
    use ::stacks::str0m::{Config, MIN_MTU, OWN, ends};

    let Config { start, frame_rate, encoder, .. } = Config::default();
    Some(Stack {
        own: OWN,
        refused: &[],
        schemes: &[],
        min_packet: (MIN_MTU, "a UDP payload of 1150 B, which is str0m's default, and 28 B of headers"),
        flow_control: None,
        encoder: Some(Encoder { start, frame_rate, model: encoder }),
        ends: MakeEnds(|_, stack, _| {
            let Encoder { start, frame_rate, model } =
                stack.encoder.clone().expect("a flow of this stack has an encoder");
            ends(&Config { start, frame_rate, encoder: model, mtu: stack.packet })
        }),
    })
}

#[cfg(not(feature = "str0m"))]
fn str0m() -> Option<Stack> {
    None
}
