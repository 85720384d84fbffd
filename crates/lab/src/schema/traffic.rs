//! The tables of traffic: arrivals of flows, and applications that request data.

use schemars::{Schema, SchemaGenerator, json_schema};
use units::{Bytes, Duration, Rate};

use crate::schema::bounds::{count, share_of, within};
use crate::schema::read::{At, Notes, Read, mismatch, tables, words};
use crate::schema::tree::{Node, Value};

tables! {
    /// Flows that arrive as a Poisson process, from `start` until `stop`; or at the times that a file lists.
    pub(crate) struct Arrivals = "arrivals" {
        /// Mean number of new flows per second.
        rate: f64 where share_of(1e-9, 1e6),
        /// Offered load instead of `rate`: mean payload that the new flows bring per second.
        load: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Maximum number of flows; fewer arrive if `stop` or the end of the run comes first. Default: no limit.
        count: u32 where count(1, 1_000_000),
        /// TCP and QUIC: mean payload of a flow; without a shape or variation every flow has this size.
        size: Bytes where within("1 B", "1000000 GB"),
        /// Shape of Pareto-distributed sizes, above 1.
        size_shape: f64 where share_of(1.000_001, 1000.0),
        /// Coefficient of variation (standard deviation / mean) of log-normal sizes.
        size_variation: f64 where share_of(0.001, 1000.0),
        /// Distribution of the sizes, instead of `size`: "web_search" (Alizadeh et al., DCTCP, SIGCOMM 2010), "data_mining" (Greenberg et
        /// al., VL2, SIGCOMM 2009); or the path of a text file, relative to the scenario, of which each line is a size in bytes and the share
        /// of flows up to this size, from 0 to 1 or to 100; with a third column between them, as in the files of pFabric, sizes are packets of
        /// 1460 bytes; or the pairs as a list. Between two sizes the distribution is uniform.
        sizes: SizeTable,
        /// Streams and datagrams: mean duration of a flow, such as a call; durations are exponentially distributed.
        duration: Duration where within("1 us", "1000000000 s"),
        /// Path of a CSV file of flows, relative to the scenario, instead of random arrivals. Each line is a start in seconds after `start`
        /// and a payload in bytes, `0.5,20000`; or a start, the sender's node, the receiver's node and a payload, `0.5,h1,h2,20000`, and
        /// then `from` and `to` are left out. A first line can name the columns and the unit of times: `start_ms,bytes`. Starts since 1970 are
        /// counted from the first one.
        file: String,
    }

    /// An application at the receiver. It asks the sender for data by requests of one packet each, which are repeated after 1 s, 2 s and
    /// so on while nothing arrives, and waits for the answers. The first request opens the connection. Connections stay open.
    pub(crate) struct App = "an application" {
        /// Its name in results. Flows whose application has one name are its connections. Default: the name of the entry; with `requests`
        /// and `player`, of the flow.
        name: String,
        /// What it does.
        kind: AppWord,
        /// Number of rounds, of loads of the page, or of segments of the video. Default: until `stop` or the end of the run.
        count: u32 where count(1, 1_000_000),
        /// requests, incast: mean size of an answer; without a shape or variation every answer has this size.
        size: Bytes where within("1 B", "1000000 GB"),
        /// requests, incast: shape of Pareto-distributed sizes, above 1.
        size_shape: f64 where share_of(1.000_001, 1000.0),
        /// requests, incast: coefficient of variation of log-normal sizes.
        size_variation: f64 where share_of(0.001, 1000.0),
        /// requests, incast: distribution of the sizes, as in `arrivals`.
        sizes: SizeTable,
        /// requests, incast, page: mean think time from the end of a round or load to the start of the next one, exponentially
        /// distributed. Default: none.
        think: Duration where within("1 us", "1000000000 s"),
        /// Shape of Pareto-distributed think times, above 1.
        think_shape: f64 where share_of(1.000_001, 1000.0),
        /// All think times have their mean length.
        think_fixed: bool,
        /// Size on the wire of a request. Default: 400 B.
        request: Bytes where within("1 B", "9000 B"),
        /// page: number of connections. Default: 6; with `multiplex` 1.
        connections: u32 where count(1, 1000),
        /// page: a connection can have several unanswered requests, as in HTTP/2 and HTTP/3; they are answered in order. Default: false,
        /// one at a time, as in HTTP/1.1.
        multiplex: bool,
        /// page: its objects. Default: those of a model of a median page of the HTTP Archive, which `weight`, `number` and `page_seed` set.
        objects: Vec<At<Object>>,
        /// page: path of a CSV file of objects, relative to the scenario. Each line is the size of an object in bytes, the delay before
        /// its request in milliseconds, and the numbers of the objects that it waits for, from 1, with spaces between them: `20000,5,1 3`.
        file: String,
        /// page: mean size of all objects of the model. Default: 2652 kB.
        weight: Bytes where within("1 kB", "10 GB"),
        /// page: number of objects of the model. Default: 71.
        number: u32 where count(5, 10_000),
        /// page: seed of the model; the seed of the run does not change the page. Default: 1.
        page_seed: u64,
        /// player: rates of the qualities, ascending.
        rates: Vec<At<Rate>>,
        /// player: duration of a segment. Default: 4 s.
        segment: Duration where within("10 ms", "100 s"),
        /// player: coefficient of variation of the sizes of segments, which are log-normal and vary alike in all qualities. Default: 0.
        variation: f64 where share_of(0.0, 10.0),
        /// player: how the quality of the next segment is chosen. Default: dynamic.
        abr: AbrWord,
        /// player: the first segment has the highest quality up to this rate. Default: 1 Mbit/s.
        start_rate: Rate where within("1 bit/s", "10 Gbit/s"),
        /// player: level up to which the buffer is filled. Default: 18 s.
        buffer: Duration where within("10 ms", "100000 s"),
        /// player: the same at the highest quality. Default: 30 s, or `buffer` if that is longer.
        buffer_at_top: Duration where within("10 ms", "100000 s"),
        /// player: playback starts, and resumes after a stall, when this much video is buffered. Default: `segment`.
        startup: Duration where within("0 s", "100000 s"),
        /// player: abandon the request for a segment that would take more than 1.8 times its duration, for a lower
        /// quality of it (`AbandonRequestsRule` of dash.js). Default: true, over a QUIC `stack` false.
        abandon: bool,
    }

    /// An object of a web page.
    pub(crate) struct Object = "an object" {
        /// Its size.
        size: Bytes where within("1 B", "10 GB"),
        /// Numbers of the objects that must have arrived before it is requested, from 1, each before it. Default: none.
        after: Vec<At<u32>>,
        /// Time that the browser computes before the request. Default: 0 s.
        delay: Duration where within("0 s", "1000 s"),
    }

    /// Random on and off periods in turn. Their lengths are exponentially distributed unless a shape is given.
    pub(crate) struct Churn = "churn" {
        /// Mean length of an on period.
        on: Duration where within("1 us", "1000000000 s"),
        /// Mean length of an off period.
        off: Duration where within("1 us", "1000000000 s"),
        /// Shape of Pareto-distributed periods, above 1.
        shape: f64 where share_of(1.000_001, 1000.0),
        /// All periods have their mean length.
        fixed: bool,
    }
}

words! {
    /// What an application does.
    pub(crate) enum AppWord = "an application" {
        /// One request after the other; each copy of the flow is an application.
        Requests = "requests",
        /// Requests to all senders at once; the next round starts when all have answered. All copies of the flow are connections of one
        /// application.
        Incast = "incast",
        /// Loads of a web page over several connections.
        Page = "page",
        /// Adaptive video (DASH); each copy of the flow is a player.
        Player = "player",
    }

    /// How the quality of the next segment of a video is chosen.
    pub(crate) enum AbrWord = "a rule for the quality" {
        /// The highest rate below 0.9 of the measured throughput.
        Throughput = "throughput",
        /// By the level of the buffer: BOLA (Spiteri et al., INFOCOM 2016) as in dash.js.
        Bola = "bola",
        /// By throughput while the buffer is low, by BOLA once it is full: the default of dash.js.
        Dynamic = "dynamic",
    }
}

/// A distribution of sizes, as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SizeTable {
    /// A known name, or a path.
    Named(String),
    /// Sizes in bytes with the share of flows up to each.
    Points(Vec<(u64, f64)>),
}

impl Read for SizeTable {
    fn description() -> String {
        "a distribution of sizes".to_owned()
    }
    fn example() -> String {
        "\"web_search\" or [[1000, 0.5], [50000, 1]]".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        if let Value::Text(text) = &node.value {
            return Some(Self::Named(text.to_string()));
        }
        let Some(rows) = node.list() else { return mismatch(node, notes) };
        let mut points = Vec::new();
        for row in rows {
            let pair = row.list().and_then(|pair| match pair {
                [size, share] => Some((size, share)),
                _ => None,
            });
            let Some((size, share)) = pair else { return mismatch(row, notes) };
            points.push((u64::read(size, notes)?, f64::read(share, notes)?));
        }
        Some(Self::Points(points))
    }
    fn to_value(&self) -> toml::Value {
        match self {
            Self::Named(name) => name.clone().into(),
            Self::Points(points) => {
                let row = |&(size, share): &(u64, f64)| {
                    toml::Value::from(vec![toml::Value::from(size as i64), toml::Value::from(share)])
                };
                points.iter().map(row).collect::<Vec<_>>().into()
            }
        }
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "examples": ["web_search", "data_mining"] },
            { "type": "array", "items": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 } },
        ] })
    }
}
