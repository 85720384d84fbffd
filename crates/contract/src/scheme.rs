//! Catalogue entries of schemes.

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
    /// Series of its parts ([`crate::Cx::probe`]), in addition to those of their transport.
    pub series: &'static [SeriesInfo],
    /// Streams: default number of later packets after which a missing one counts as lost; 1 declares every gap a loss at once, as a FIFO path allows.
    /// TCP has its own rules.
    pub reorder: u32,
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
