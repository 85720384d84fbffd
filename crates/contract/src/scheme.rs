//! Catalogue entries of schemes.

use crate::control::EcnUse;

/// The catalogue entry of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// Folder and key, `snake_case`.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Networks in which it is used.
    pub families: &'static [Family],
    /// Its sources.
    pub sources: &'static [Source],
    /// How complete its sources are.
    pub documented: Documented,
    /// Series of its parts ([`crate::Cx::probe`]), in addition to the series of their transport.
    pub series: &'static [SeriesInfo],
    /// Streams: default number of later packets after which a missing one counts as lost; 1 declares every gap a loss
    /// at once, as a FIFO path allows. TCP has its own rules.
    pub reorder: u32,
    /// What it needs of the flow and of the network in which it is put: the defaults of a scenario follow it, or a
    /// warning says what is missing.
    pub needs: &'static [Need],
}

impl Scheme {
    /// Its use of explicit congestion notification over TCP; `None` if it does not need it.
    pub fn ecn(&self) -> Option<EcnUse> {
        self.needs.iter().find_map(|need| match need {
            Need::Ecn(ecn) => Some(*ecn),
            _ => None,
        })
    }

    /// Whether its flows over TCP have RACK-TLP unless a scenario says otherwise.
    pub fn has_rack(&self) -> bool {
        self.needs.contains(&Need::Rack)
    }
}

/// What a scheme needs beside a network of one of its families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// TCP: explicit congestion notification, and queues that mark packets.
    Ecn(EcnUse),
    /// TCP: loss detection by time and tail loss probes (RACK-TLP) [RFC8985]. Its sources define the scheme with them,
    /// or run it where the loss of a retransmission is found as any other.
    Rack,
    /// Named data: the round-trip times that the parameter of this name counts span several windows. Otherwise their
    /// range is almost zero, and Data that are hardly late count as congestion.
    Samples(&'static str),
    /// With this value of this parameter TCP or QUIC: consumers of named data tell it neither of deliveries nor of the
    /// end of a recovery.
    Deliveries {
        /// Name of the parameter.
        param: &'static str,
        /// Its value, a word.
        value: &'static str,
    },
}

/// A series that a part offers: name, unit, subject (`flow`, `receiver` or `node`), meaning.
pub type SeriesInfo = (&'static str, &'static str, &'static str, &'static str);

/// Kind of network a scheme works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Unicast IP.
    Ip,
    /// IP multicast.
    Multicast,
    /// Multicast by name, over an information-centric network.
    Icn,
    /// Named data networking.
    Ndn,
    /// Software-defined networking, for any kind of node.
    Sdn,
}

impl Family {
    /// Its name in scenarios and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Multicast => "multicast",
            Self::Icn => "icn",
            Self::Ndn => "ndn",
            Self::Sdn => "sdn",
        }
    }
}

/// A source of a scheme, with a short key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Key used in comments, such as `RFC9438`.
    pub key: &'static str,
    /// The reference.
    pub text: &'static str,
}

/// How completely the sources describe a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Documented {
    /// Every rule is published.
    Full,
    /// Some rules are reconstructed; each is marked and has a parameter.
    Partial,
    /// Reconstructed from a summary.
    Reconstruction,
}

impl Documented {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::Reconstruction => "reconstruction",
        }
    }
}
