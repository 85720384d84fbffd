//! The catalogue: every scheme is a folder here, and this file joins them.
//!
//! A folder's `mod.rs` exports `SCHEME`, `Params`, and its parts: `Control` with `control(&Params, &Setup)` for a
//! window or rate-based controller, or `Sender`, `Receiver` with `sender(&Params, &Setup)`, `receiver(&Params, &Setup)`
//! for a stream; a stream that also runs in routers exports `Router` with `router(&Params, &Setup)`. Parts in NDN
//! forwarders are `Strategy` with `strategy(&Params, &Setup)` and `Link` with `link(&Params, &Setup)`, the part in an
//! SDN controller is `App` with `app(&Params, &Setup)`; a folder may have them beside `Control`, or alone.

use std::sync::LazyLock;

use ambassador::Delegate;
use contract::{
    Ack, Admission, Allowance, App, AppCx, Arrival, ArrivingData, ArrivingInterest, ArrivingNack, Cause,
    Congestion, CongestionControl, Cx, Delivery, EcnUse, EncodedFrame, FaceId, Feedback, FibEntry, Gap, Idle,
    Label, LinkAlgorithm, LinkCx, Lost, Name, OutgoingPacket, Packet, ParamError, ParamInfo, ParamList,
    ParamTable, ParamValue, Pending, PortId, PortView, ReceiverAlgorithm, ReceiverCx, Report, Requirements,
    ReturnPath, RouterAlgorithm, RouterCx, Scheme, SenderAlgorithm, Sent, Setup, SourceWindows, Strategy,
    StrategyCx, Transit, TransitCx, ambassador_impl_App, ambassador_impl_CongestionControl,
    ambassador_impl_LinkAlgorithm, ambassador_impl_ReceiverAlgorithm, ambassador_impl_RouterAlgorithm,
    ambassador_impl_SenderAlgorithm, ambassador_impl_Strategy,
};
use units::{Bytes, Duration, Rate, Time};

use crate::registry::registry;

mod like_linux;
mod registered;
mod registry;
pub mod shared;

pub use like_linux::like_linux;
pub use registered::{NameTaken, register};

// registry: begin (written by `make registry` from the folders)
pub mod aimd;
pub mod asmp;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod cctcp;
pub mod chopcop;
pub mod coopcon;
pub mod copa;
pub mod cubic;
pub mod cubic_ndn;
pub mod cvihis;
pub mod dctcp;
pub mod ecn_rate;
pub mod ecp;
pub mod flecom;
pub mod gcc;
pub mod highspeed;
pub mod his;
pub mod hobhis;
pub mod hr_icp;
pub mod htcp;
pub mod hybla;
pub mod icp;
pub mod illinois;
pub mod least_loaded;
pub mod ledbat;
pub mod ledbat_pp;
pub mod mca;
pub mod mircc;
pub mod mircc_multipath;
pub mod nack;
pub mod nada;
pub mod ndnsieve;
pub mod pcon;
pub mod perif_ecn;
pub mod pgmcc;
pub mod prague;
pub mod raaqm;
pub mod reno;
pub mod scalable;
pub mod scream;
pub mod srmcc;
pub mod tcp_lp;
pub mod tfmcc;
pub mod tfrc;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod yeah;

registry! {
    control {
        aimd: Aimd,
        bbr: Bbr,
        bbr3: Bbr3,
        bic: Bic,
        cctcp: Cctcp,
        chopcop: Chopcop,
        coopcon: Coopcon,
        copa: Copa,
        cubic: Cubic,
        cubic_ndn: CubicNdn,
        dctcp: Dctcp,
        ecn_rate: EcnRate,
        ecp: Ecp,
        flecom: Flecom,
        highspeed: Highspeed,
        his: His,
        hobhis: Hobhis,
        hr_icp: HrIcp,
        htcp: Htcp,
        hybla: Hybla,
        icp: Icp,
        illinois: Illinois,
        ledbat: Ledbat,
        ledbat_pp: LedbatPp,
        mircc: Mircc,
        mircc_multipath: MirccMultipath,
        nack: Nack,
        ndnsieve: Ndnsieve,
        pcon: Pcon,
        prague: Prague,
        raaqm: Raaqm,
        reno: Reno,
        scalable: Scalable,
        tcp_lp: TcpLp,
        vegas: Vegas,
        veno: Veno,
        westwood: Westwood,
        yeah: Yeah,
    }
    stream {
        asmp: Asmp,
        cvihis: Cvihis,
        gcc: Gcc,
        mca: Mca,
        nada: Nada,
        perif_ecn: PerifEcn,
        pgmcc: Pgmcc,
        scream: Scream,
        srmcc: Srmcc,
        tfmcc: Tfmcc,
        tfrc: Tfrc,
    }
    router {
        perif_ecn: PerifEcn,
        srmcc: Srmcc,
    }
    strategy {
        coopcon: Coopcon,
        ecn_rate: EcnRate,
        flecom: Flecom,
        mircc_multipath: MirccMultipath,
        nack: Nack,
        pcon: Pcon,
        raaqm: Raaqm,
    }
    link {
        cctcp: Cctcp,
        chopcop: Chopcop,
        coopcon: Coopcon,
        cubic_ndn: CubicNdn,
        ecn_rate: EcnRate,
        ecp: Ecp,
        flecom: Flecom,
        his: His,
        hobhis: Hobhis,
        hr_icp: HrIcp,
        mircc: Mircc,
        mircc_multipath: MirccMultipath,
        ndnsieve: Ndnsieve,
        pcon: Pcon,
        raaqm: Raaqm,
    }
    app {
        least_loaded: LeastLoaded,
        ndnsieve: Ndnsieve,
    }
    forwarder {
        least_loaded,
    }
}
// registry: end

/// A row of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its catalogue entry.
    pub scheme: Scheme,
    /// Its parameters.
    pub params: &'static (dyn Fn() -> Vec<ParamInfo> + Send + Sync),
    /// Reads parameters and returns all of them, with defaults.
    pub resolve: Resolve,
    /// Makes its parts at endpoints.
    pub build: Build,
    /// Makes its strategy for NDN forwarders; `None` if it has none.
    pub strategy: Option<Make<AnyStrategy>>,
    /// Makes its link part for NDN forwarders; `None` if it has none.
    pub link: Option<Make<AnyLink>>,
    /// Makes its app for an SDN controller; `None` if it has none.
    pub app: Option<Make<AnyApp>>,
}

/// Reads parameters and returns all of them, with defaults.
pub type Resolve = &'static (dyn Fn(&[(String, ParamValue)]) -> Result<ParamList, ParamError> + Send + Sync);

/// Makes a part from parameters and the properties of its endpoint.
pub type Make<T> = &'static (dyn Fn(&[(String, ParamValue)], &Setup) -> Result<T, ParamError> + Send + Sync);

/// How the parts of a scheme at endpoints are made.
#[derive(Clone, Copy)]
pub enum Build {
    /// A congestion controller for TCP, NDN consumers and other windowed transports.
    Control(Make<AnyControl>),
    /// The algorithms of a stream.
    Stream {
        /// At the source.
        sender: Make<AnySender>,
        /// At a receiver.
        receiver: Make<AnyReceiver>,
        /// In the routers of the tree; `None` if the scheme has no such part.
        router: Option<Make<AnyRouter>>,
    },
    /// None: all its parts are in forwarders or in a controller.
    Forwarder,
}

/// The schemes of this crate.
static BUILT_IN: LazyLock<Vec<Entry>> = LazyLock::new(built_in);

/// Every scheme, in the order of names: the schemes of this crate, and the ones that the program registered.
pub fn catalogue() -> Vec<Entry> {
    let mut all = BUILT_IN.clone();
    all.extend(registered::all());
    all.sort_by_key(|entry| entry.scheme.name);
    all
}

/// Whether the scheme called `name` is one of this crate.
pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.binary_search_by_key(&name, |entry| entry.scheme.name).is_ok()
}

/// The scheme called `name`.
pub fn find(name: &str) -> Option<Entry> {
    match BUILT_IN.binary_search_by_key(&name, |entry| entry.scheme.name) {
        Ok(at) => Some(BUILT_IN[at]),
        Err(_) => registered::find(name),
    }
}

/// How a scheme over TCP uses explicit congestion notification; `None` if it does not need it.
pub fn ecn_use(name: &str) -> Option<EcnUse> {
    find(name)?.scheme.ecn()
}

/// Templates of new schemes, one folder per kind. They are compiled and tested, and are not in the catalogue.
#[cfg(test)]
#[path = "_templates"]
pub mod templates {
    pub mod controller;
    pub mod forwarder;
    #[allow(clippy::module_inception, reason = "a scheme keeps its part in routers in `router.rs`")]
    pub mod router;
    pub mod stream;
    pub mod window;
}
