//! The trace that the rate of a link follows, and its delay if the trace has one: a model of a kind of link, or a file.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::bounds::share_of;
use crate::schema::read::{Field, Notes, Read, mismatch, shortened, suggestion, tables, words};
use crate::schema::tree::{Node, Value};

words! {
    /// A model of how the rate of a kind of link varies. Its trace is computed from the model and a seed.
    pub(crate) enum TraceModel = "a model of a link" {
        /// LTE, the user at rest: fast fading and other users of the cell.
        LteStationary = "lte_stationary",
        /// LTE, the user on foot: shadowing changes over tens of seconds.
        LteWalking = "lte_walking",
        /// LTE in a car: shadowing changes over seconds, a handover every half minute.
        LteDriving = "lte_driving",
        /// LTE in a car that passes through tunnels: as `lte_driving`, with outages of several seconds.
        LteTunnel = "lte_tunnel",
        /// LTE in a fast train: shadowing changes within a second, a handover every twelve seconds, some of which fail.
        LteTrain = "lte_train",
        /// 5G below 6 GHz in a car: as `lte_driving`, faster.
        NrDriving = "nr_driving",
        /// 5G millimetre waves: a high rate, and bodies or vehicles that block it for half a second.
        NrMmwave = "nr_mmwave",
        /// Wi-Fi at home: a slowly varying rate with short bursts of neighbours.
        WifiHome = "wifi_home",
        /// Wi-Fi in a crowd: many stations contend, and the medium is often busy.
        WifiCrowded = "wifi_crowded",
        /// Low Earth orbit (LEO): another satellite or beam every 15 s, with another rate and a short interruption.
        Leo = "leo",
        /// Low Earth orbit by geometry: rate and delay follow the distance of a satellite that passes, with a handover every 15 s.
        LeoPass = "leo_pass",
        /// DSL: a constant rate, and rare retransmissions at the physical layer.
        Dsl = "dsl",
        /// Cable: a segment that is shared with neighbours, whose load varies over seconds.
        Cable = "cable",
    }
}

tables! {
    /// A trace by a model, with its seed.
    pub(crate) struct ModelTrace = "a trace" {
        /// The model.
        model: TraceModel,
        /// Seed of the trace. The seed of the run does not change it, so all runs see the same link. Default: 1.
        seed: u64,
        /// leo_pass: height of the orbit in km. Default: 550.
        height_km: f64 where share_of(160.0, 2000.0),
        /// leo_pass: lowest elevation in degrees at which a satellite is used. Default: 25.
        min_elevation_deg: f64 where share_of(5.0, 60.0),
    }
}

/// The orbit of the satellites of [`TraceModel::LeoPass`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Orbit {
    pub(crate) height_km: f64,
    pub(crate) min_elevation_deg: f64,
}

impl Orbit {
    /// The first shell of Starlink: 550 km, above 25° (FCC, SAT-MOD-20200417-00037).
    pub(crate) const DEFAULT: Self = Self { height_km: 550.0, min_elevation_deg: 25.0 };
}

/// The trace of a link's rate, as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TraceSource {
    /// A model, its seed, and the orbit of its satellites.
    Model(TraceModel, u64, Orbit),
    /// A path, relative to the scenario.
    File(String),
}

/// What a trace is known by: the word of its model with its orbit, and its seed; or its path.
pub(crate) type TraceKey = (String, u64);

impl TraceSource {
    pub(crate) fn key(&self) -> TraceKey {
        match self {
            Self::Model(model, seed, orbit) => {
                let Orbit { height_km, min_elevation_deg } = orbit;
                (format!("{} {height_km} {min_elevation_deg}", model.word()), *seed)
            }
            Self::File(path) => (path.clone(), 0),
        }
    }

    /// A model or a file from one text. A path has a dot or a slash.
    fn from_text(node: &Node, text: &str, notes: &mut Notes) -> Option<Self> {
        if let Some(model) = TraceModel::ALL.iter().find(|model| model.word() == text) {
            return Some(Self::Model(*model, DEFAULT_SEED, Orbit::DEFAULT));
        }
        if text.contains(['.', '/', '\\']) {
            return Some(Self::File(text.to_owned()));
        }
        notes
            .wrong(node.location, format!("`{}` is neither a model of a link nor a file", shortened(text)))
            .maybe(suggestion(text, TraceModel::WORDS.iter().copied()));
        None
    }
}

const DEFAULT_SEED: u64 = 1;

impl Read for TraceSource {
    fn description() -> String {
        "a trace".to_owned()
    }
    fn example() -> String {
        "\"lte_driving\" or \"FILE.up\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Self::from_text(node, text, notes),
            Value::Table(_) => {
                let table = ModelTrace::read(node, notes)?;
                let model = table.model.required("model", "a trace", node.location, notes)?;
                let orbits =
                    [("height_km", &table.height_km), ("min_elevation_deg", &table.min_elevation_deg)];
                let mut wrong = table.seed.is_wrong();
                for (key, field) in orbits {
                    wrong |= field.is_wrong();
                    if let (Some(at), true) = (field.present(), model.value != TraceModel::LeoPass) {
                        notes
                            .wrong(at.location, format!("the model `{}` has no `{key}`", model.word()))
                            .hint("leave it out: only `leo_pass` has an orbit");
                        wrong = true;
                    }
                }
                let orbit = Orbit {
                    height_km: table.height_km.or(Orbit::DEFAULT.height_km),
                    min_elevation_deg: table.min_elevation_deg.or(Orbit::DEFAULT.min_elevation_deg),
                };
                (!wrong).then(|| Self::Model(model.value, table.seed.or(DEFAULT_SEED), orbit))
            }
            _ => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        match self {
            Self::Model(model, DEFAULT_SEED, Orbit::DEFAULT) => model.to_value(),
            Self::Model(model, seed, orbit) => {
                let key = |value: f64, default: f64| Field::of(value).filter(|value| *value != default);
                let table = ModelTrace {
                    model: (*model).into(),
                    seed: (*seed).into(),
                    height_km: key(orbit.height_km, Orbit::DEFAULT.height_km),
                    min_elevation_deg: key(orbit.min_elevation_deg, Orbit::DEFAULT.min_elevation_deg),
                    ..ModelTrace::default()
                };
                table.to_value()
            }
            Self::File(path) => path.to_value(),
        }
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let table = ModelTrace::schema(generator);
        json_schema!({ "anyOf": [
            { "type": "string", "examples": ["lte_driving", "traces/walk.up", "traces/walk.csv"] },
            table,
        ] })
    }
}
