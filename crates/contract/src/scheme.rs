//! Catalogue entries of schemes.

/// The title page of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// Folder and key, `snake_case`.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Where it is used.
    pub families: &'static [Family],
    /// What it was written from.
    pub sources: &'static [Source],
    /// How far its sources go.
    pub documented: Documented,
    /// Series that its parts offer by [`crate::Cx::probe`], beside those of their transport.
    pub series: &'static [SeriesInfo],
    /// Streams: packets that must arrive after a missing one before it counts as lost, where the scenario does not say; 1 takes
    /// every gap for a loss at once, as a FIFO path allows. TCP has rules of its own.
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
    /// Software-defined networking, whatever it controls.
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

/// A text that a scheme was written from, under a short key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Key used in comments, such as `RFC9438`.
    pub key: &'static str,
    /// What it is.
    pub text: &'static str,
}

/// How completely the sources describe a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Documented {
    /// Every rule is published.
    Full,
    /// Some rules are rebuilt; each is marked and switchable.
    Partial,
    /// Rebuilt from a summary.
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
