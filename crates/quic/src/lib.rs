//! Congestion controllers of Thalweg's catalogue for QUIC (RFC 9000, 9002): window and rate schemes as controllers of
//! quinn-proto (feature `quinn`, which is on by default) and of noq-proto (feature `noq`).
//!
//! ```
//! use std::sync::Arc;
//!
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(thalweg_quic::Cvihis::background()));
//! ```
//!
//! A type such as [`Cubic`] or [`Cvihis`] is the configuration of one scheme. It makes a controller for each path of
//! each connection. It has the parameters of the scheme in the catalogue, with the same names, defaults and sources:
//!
//! ```
//! use thalweg_quic::{Cubic, schemes::cubic};
//!
//! let cubic = Cubic::new(cubic::Params { hystart: cubic::Ending::Linux, ..Default::default() });
//! ```
//!
//! Where the name of a scheme is known only when the program runs, [`quinn::by_name`] or [`noq::by_name`] makes the
//! configuration.
//!
//! # Differences from the schemes over TCP and streams
//!
//! - **Units.** A window scheme counts in segments. A segment is the largest UDP payload that the path carries. When
//!   the stack finds another maximum, the window keeps its number of segments. [`Cvihis`] and [`Tfrc`] count in bytes;
//!   their rates include the QUIC header, and not the headers of UDP and IP.
//! - **Minimum window.** Two datagrams [RFC9002 §7.2]. The initial window is the one of RFC 9002 §7.2 unless the scheme
//!   has its own.
//! - **Acknowledgements.** A window scheme receives each packet of an ACK frame by itself, so that slow start adds the
//!   acknowledged bytes [RFC9002 §7.3.1].
//! - **Episodes.** A loss or mark starts one if the packet was sent after the last episode began [RFC9002 §7.3.2].
//!   Persistent congestion is reported as a timeout.
//! - **Rates.** quinn paces by the window that a controller reports, and noq by its rate: see [`quinn`] and [`noq`].
//! - **Timers.** A stack calls a controller when packets leave and when acknowledgements arrive. A deadline of a scheme
//!   is handled by the next of these calls.
//! - **Delays.** QUIC carries no receiver timestamps. Schemes that use one-way delays ([`Ledbat`], [`LedbatPp`],
//!   [`TcpLp`], [`Cvihis`]) receive the round-trip time in its place, so that queues on the path of the
//!   acknowledgements count, too. They are derived from the scheme of that name.
//! - **Streams with receiver feedback** ([`Cvihis`], [`Tfrc`]). Both parts of the scheme run at the sender: the
//!   receiver's part takes each acknowledged packet as an arrival, and its feedback costs no packets.
//! - **Undo.** noq reports spurious losses, and quinn does not.
//!
//! Schemes for groups, for named data, and GCC are not here. GCC needs the arrival time of each packet, and an ACK
//! frame has one time for several.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use contract::{CongestionControl, ParamError, ParamTable, ParamValue, Setup};
use units::Bytes;

/// The part of a stack's module that does not depend on its traits: factories of its controllers.
macro_rules! factories {
    ($stack:ident) => {
        impl<P: crate::QuicScheme> $stack::congestion::ControllerFactory for crate::Config<P> {
            fn build(
                self: std::sync::Arc<Self>,
                now: Instant,
                current_mtu: u16,
            ) -> Box<dyn $stack::congestion::Controller> {
                Box::new(self.controller(now, current_mtu))
            }
        }

        /// A configuration whose scheme is known by name only.
        pub type Factory = std::sync::Arc<dyn $stack::congestion::ControllerFactory + Send + Sync>;

        struct Boxed;

        impl crate::Build for Boxed {
            type Built = Factory;

            fn build<P: crate::QuicScheme>(config: crate::Config<P>) -> Factory {
                std::sync::Arc::new(config)
            }
        }

        /// The scheme called `name` with these parameters and this [seed](crate::Config::seed); `None` if there is no
        /// such scheme.
        ///
        /// # Errors
        ///
        /// A parameter that the scheme does not have, or a value out of its range.
        pub fn by_name(
            name: &str,
            given: &[(String, contract::ParamValue)],
            seed: u64,
        ) -> Result<Option<Factory>, contract::ParamError> {
            crate::find::<Boxed>(name, given, seed)
        }
    };
}

mod controller;
mod delivery;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
mod stream;

pub use contract::{self, ParamValue as Value, Scheme};
pub use controller::Controller;
#[cfg(feature = "quinn")]
pub use quinn::by_name;
pub use schemes;
pub use stream::AtSender;

/// Parameters of a scheme that QUIC can use, and how its congestion control is made.
pub trait QuicScheme: ParamTable + Clone + Send + Sync + 'static {
    /// The congestion control of one path.
    type Control: CongestionControl + Clone + Send + Sync + 'static;

    /// The catalogue entry.
    const SCHEME: Scheme;

    /// Whether it counts in segments, whatever their size. Otherwise it counts in bytes, and its rates are rates on the
    /// wire.
    const IN_SEGMENTS: bool;

    /// Makes the congestion control of one path.
    fn control(&self, setup: &Setup) -> Self::Control;
}

/// The configuration of a scheme: a factory of its controllers.
#[derive(Debug)]
pub struct Config<P> {
    params: P,
    seed: u64,
    /// Controllers made so far, so that each has its own random numbers.
    created: AtomicU64,
}

impl<P: QuicScheme> Config<P> {
    /// A scheme with these parameters.
    pub fn new(params: P) -> Self {
        Self { params, seed: 0, created: AtomicU64::new(0) }
    }

    /// The parameters by name, as a scenario gives them; the others have their defaults.
    ///
    /// # Errors
    ///
    /// A name that the scheme does not have, or a value out of its range.
    pub fn with(given: &[(String, ParamValue)]) -> Result<Self, ParamError> {
        Ok(Self::new(P::with(given)?))
    }

    /// The same scheme with other random numbers. Controllers draw from a stream given by this seed and the number of
    /// the controller; equal seeds give equal draws. The default is 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The controller of a path whose datagrams have a payload of up to `mtu` bytes.
    pub fn controller(&self, now: Instant, mtu: u16) -> Controller<P::Control> {
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        let random = contract::Random::new(self.seed, P::SCHEME.name, &number.to_string());
        let setup = Setup {
            segment: Bytes::new(mtu.into()),
            header: Bytes::ZERO,
            initial_window: Bytes::new(initial_window(mtu)),
        };
        Controller::new(self.params.control(&setup), &setup, P::IN_SEGMENTS, random, now)
    }
}

impl<P: QuicScheme + Default> Default for Config<P> {
    /// The scheme with its default parameters.
    fn default() -> Self {
        Self::new(P::default())
    }
}

/// What is made of a configuration whose scheme is known by name only.
trait Build {
    type Built;

    fn build<P: QuicScheme>(config: Config<P>) -> Self::Built;
}

/// Ten datagrams, but not more than the larger of 14 720 bytes and two datagrams [RFC9002 §7.2].
fn initial_window(mtu: u16) -> u64 {
    let mtu = u64::from(mtu);
    (10 * mtu).min((2 * mtu).max(14_720))
}

/// Lists the schemes once: an alias and a [`QuicScheme`] for each, `find` and [`NAMES`].
macro_rules! schemes {
    (window { $($window:ident: $Window:ident,)* } stream { $($stream:ident: $Stream:ident,)* }) => {
        $(
            #[doc = concat!("The window scheme `", stringify!($window), "` of the catalogue.")]
            pub type $Window = Config<schemes::$window::Params>;

            impl QuicScheme for schemes::$window::Params {
                type Control = schemes::$window::Control;
                const SCHEME: Scheme = schemes::$window::SCHEME;
                const IN_SEGMENTS: bool = true;

                fn control(&self, setup: &Setup) -> Self::Control {
                    schemes::$window::control(self, setup)
                }
            }
        )*
        $(
            #[doc = concat!("Derived from the stream scheme `", stringify!($stream), "` of the catalogue: both of its parts at the sender.")]
            pub type $Stream = Config<schemes::$stream::Params>;

            impl QuicScheme for schemes::$stream::Params {
                type Control = AtSender<schemes::$stream::Sender, schemes::$stream::Receiver>;
                const SCHEME: Scheme = schemes::$stream::SCHEME;
                const IN_SEGMENTS: bool = false;

                fn control(&self, setup: &Setup) -> Self::Control {
                    AtSender::new(schemes::$stream::sender(self, setup), schemes::$stream::receiver(self, setup))
                }
            }
        )*

        /// Names of the schemes, as in the catalogue.
        pub const NAMES: &[&str] = &[$(stringify!($window),)* $(stringify!($stream),)*];

        /// The scheme called `name`; `None` for an unknown name.
        fn find<B: Build>(
            name: &str,
            given: &[(String, ParamValue)],
            seed: u64,
        ) -> Result<Option<B::Built>, ParamError> {
            Ok(match name {
                $(stringify!($window) => Some(B::build($Window::with(given)?.seed(seed))),)*
                $(stringify!($stream) => Some(B::build($Stream::with(given)?.seed(seed))),)*
                _ => None,
            })
        }
    };
}

schemes! {
    window {
        // registry: begin (written by `make registry` from the folders)
        aimd: Aimd,
        bbr: Bbr,
        bbr3: Bbr3,
        bic: Bic,
        copa: Copa,
        cubic: Cubic,
        highspeed: Highspeed,
        htcp: Htcp,
        hybla: Hybla,
        illinois: Illinois,
        ledbat: Ledbat,
        ledbat_pp: LedbatPp,
        reno: Reno,
        scalable: Scalable,
        tcp_lp: TcpLp,
        vegas: Vegas,
        veno: Veno,
        westwood: Westwood,
        yeah: Yeah,
        // registry: end
    }
    stream {
        cvihis: Cvihis,
        tfrc: Tfrc,
    }
}

impl Cvihis {
    /// Background mode: yields to other traffic.
    pub fn background() -> Self {
        Self::in_mode(schemes::cvihis::Mode::Background)
    }

    /// Real-time mode: takes its share.
    pub fn real_time() -> Self {
        Self::in_mode(schemes::cvihis::Mode::RealTime)
    }

    fn in_mode(mode: schemes::cvihis::Mode) -> Self {
        Self::new(schemes::cvihis::Params { mode, ..Default::default() })
    }
}
