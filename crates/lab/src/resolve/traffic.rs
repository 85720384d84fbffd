//! The resolved flows of a scenario, by name and by group, and the series that they offer.

use std::collections::{BTreeMap, BTreeSet};

use contract::{FlowId, NodeId, SeriesInfo};
use indexmap::IndexMap;
use sim::Cast;
use stack::{ndn, stream, tcp};
use units::Bytes;

use super::Trace;
use super::model::Transport;
use super::ndn::NdnNet;
use super::sdn::SdnNet;
use crate::report::DERIVED;
use crate::schema::file::Flow;
use crate::schema::read::{At, Notes, shortened};
use crate::schema::tree::Location;

/// A flow with its ends.
pub(super) struct ResolvedFlow {
    /// Its table, with every key.
    pub(super) table: Flow,
    pub(super) transport: Transport,
    pub(super) cast: Cast,
    /// Size on the wire of its data packets.
    pub(super) packet: Bytes,
    pub(super) from: NodeId,
    pub(super) to: Vec<NodeId>,
}

impl ResolvedFlow {
    pub(super) fn name(&self) -> &str {
        self.table.name.present().map_or("", |name| &name.value)
    }

    pub(super) fn scheme(&self) -> Option<&str> {
        self.table.scheme.present().map(|scheme| scheme.0.as_str())
    }
}

/// All flows of a scenario.
#[derive(Default)]
pub(super) struct Traffic {
    /// By [`FlowId`].
    pub(super) flows: Vec<ResolvedFlow>,
    /// The groups with their flows.
    pub(super) groups: IndexMap<String, Vec<FlowId>>,
    pub(super) traces: BTreeMap<String, Trace>,
    ids: IndexMap<String, FlowId>,
    /// Names of entries, and of their groups, that were to make flows and did not, because something about them is
    /// noted.
    pub(super) refused: BTreeSet<String>,
    /// A refused entry has no name that is known, so that no name is surely unknown.
    pub(super) nameless: bool,
}

impl Traffic {
    /// Names of flows and of groups.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str).chain(self.flow_names())
    }

    /// The flow of that name, or all flows of the group of that name.
    pub(super) fn find(&self, name: &str) -> Option<Vec<FlowId>> {
        if let Some(id) = self.ids.get(name) {
            return Some(vec![*id]);
        }
        self.groups.get(name).cloned()
    }

    /// Names of flows in alphabetical order.
    pub(super) fn flow_names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.ids.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.into_iter()
    }

    pub(super) fn flow(&self, name: &str) -> Option<&ResolvedFlow> {
        self.flows.get(self.ids.get(name)?.index())
    }

    pub(super) fn has_flow(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }

    pub(super) fn has_group(&self, name: &str) -> bool {
        self.groups.contains_key(name)
    }

    /// Names of applications.
    pub(super) fn app_names(&self) -> impl Iterator<Item = &str> {
        let names = self.flows.iter().filter_map(|flow| flow.table.app.present());
        names.filter_map(|app| app.name.present()).map(|name| name.value.as_str())
    }

    pub(super) fn has_app(&self, name: &str) -> bool {
        self.app_names().any(|known| known == name)
    }

    /// Whether a flow or group of that name is written and was refused: that it is not here needs no second message.
    pub(super) fn refused(&self, name: &str) -> bool {
        let entry = name.rsplit_once('.').filter(|(_, copy)| copy.parse::<u32>().is_ok());
        self.nameless
            || self.refused.contains(name)
            || entry.is_some_and(|(entry, _)| self.refused.contains(entry))
    }

    /// Whether a flow that was refused may offer that series.
    pub(super) fn may_offer(&self, series: &str) -> bool {
        let own = [tcp::SERIES, stream::SERIES, stream::VIDEO_SERIES, stream::PLAYER_SERIES]
            .into_iter()
            .flatten()
            .any(|row| row.0 == series);
        (self.nameless || !self.refused.is_empty()) && (own || !offerers(series).is_empty())
    }

    /// The schemes that offer a series that these flows do not, for messages.
    pub(super) fn offered_by(&self, series: &str) -> Option<String> {
        let schemes = offerers(series);
        // a scheme that is here and offers it nonetheless offers it in a part of nodes
        let here = |scheme: &&str| self.flows.iter().any(|flow| flow.scheme() == Some(*scheme));
        if let Some(scheme) = schemes.iter().copied().find(here) {
            return Some(format!(
                "`{scheme}` offers it in its part in routers and forwarders, which this network does not have"
            ));
        }
        let names: Vec<String> = schemes.iter().map(|scheme| format!("`{scheme}`")).collect();
        (!names.is_empty()).then(|| format!("{} would offer it", names.join(", ")))
    }

    /// Series that the engine measures and that these flows, forwarders and a controller offer.
    pub(super) fn series(&self, ndn: &NdnNet, sdn: &SdnNet) -> BTreeSet<&'static str> {
        let mut known: BTreeSet<&'static str> = sim::SERIES.iter().chain(DERIVED).map(|row| row.0).collect();
        let mut schemes = BTreeSet::new();
        for flow in &self.flows {
            match flow.transport {
                Transport::Stack if flow.table.encoder.present().is_some() => {
                    known.insert("allowed_rate");
                    known.extend(stream::ENCODER_SERIES.iter().map(|row| row.0));
                }
                Transport::Tcp | Transport::Stack => known.extend(tcp::SERIES.iter().map(|row| row.0)),
                Transport::Stream => known.extend(of_stream(&flow.table).map(|row| row.0)),
                Transport::Ndn => known.extend(ndn::CONSUMER_SERIES.iter().map(|row| row.0)),
                Transport::Datagram => {}
            }
            schemes.extend(flow.scheme());
        }
        for entry in schemes.into_iter().filter_map(schemes::find) {
            let scheme = entry.scheme.name;
            let here = |row: &&SeriesInfo| row.2 != "node" || self.routers_know(scheme);
            known.extend(entry.scheme.series.iter().filter(here).map(|row| row.0));
        }
        known.extend(of_forwarders(ndn, sdn).map(|row| row.0));
        known
    }

    /// Whether a scheme's part in routers runs: some flow of it is sent by name.
    fn routers_know(&self, scheme: &str) -> bool {
        self.flows.iter().any(|flow| flow.cast == Cast::Named && flow.scheme() == Some(scheme))
    }

    /// What a recorded series is about: `flow`, `receiver`, `port`, `node`, or several of them.
    pub(super) fn subjects(&self, series: &str, ndn: &NdnNet, sdn: &SdnNet) -> BTreeSet<&'static str> {
        let schemes: BTreeSet<&str> = self.flows.iter().filter_map(ResolvedFlow::scheme).collect();
        let own = schemes.into_iter().filter_map(schemes::find).flat_map(|entry| entry.scheme.series);
        let video = [stream::VIDEO_SERIES, stream::ENCODER_SERIES, stream::PLAYER_SERIES];
        let built_in = [sim::SERIES, DERIVED, tcp::SERIES, stream::SERIES, ndn::CONSUMER_SERIES];
        let built_in = built_in.into_iter().chain(video).flatten();
        let all = built_in.chain(own).chain(of_forwarders(ndn, sdn));
        all.filter(|row| row.0 == series).map(|row| row.2).collect()
    }

    /// Index of the group of that name, which is made where there is none.
    pub(super) fn group(&mut self, name: &str) -> usize {
        let group = self.groups.entry(name.to_owned());
        let index = group.index();
        group.or_default();
        index
    }

    pub(super) fn add(&mut self, flow: ResolvedFlow, group: usize, location: Location, notes: &mut Notes) {
        let id = FlowId(self.flows.len() as u32);
        if self.ids.insert(flow.name().to_owned(), id).is_some() {
            notes
                .wrong(location, format!("two flows are called `{}`", shortened(flow.name())))
                .hint("give each a name of its own, or write count = 2 in one table");
            return;
        }
        self.groups[group].push(id);
        self.flows.push(flow);
    }

    /// The tables of the flows, then entries for groups without flows; the names of all groups; and frames that files
    /// list.
    pub(super) fn into_tables(self) -> (Vec<At<Flow>>, Vec<String>, BTreeMap<String, Trace>) {
        let none = self.groups.iter().filter(|(_, flows)| flows.is_empty());
        let none =
            none.map(|(name, _)| Flow { name: name.clone().into(), count: 0.into(), ..Flow::default() });
        let mut tables: Vec<At<Flow>> = self.flows.into_iter().map(|flow| flow.table.into()).collect();
        tables.extend(none.map(At::from));
        (tables, self.groups.into_keys().collect(), self.traces)
    }
}

/// Series that the machines of a stream offer.
fn of_stream(table: &Flow) -> impl Iterator<Item = &'static SeriesInfo> {
    let encoder = table.encoder.present();
    let frames = table.source.present().map(|_| ()).or(encoder.map(|_| ()));
    let video = frames.into_iter().flat_map(|()| stream::VIDEO_SERIES);
    let encoder = encoder.into_iter().flat_map(|_| stream::ENCODER_SERIES);
    let player = table.player.present().into_iter().flat_map(|_| stream::PLAYER_SERIES);
    stream::SERIES.iter().chain(video).chain(encoder).chain(player)
}

/// Series of nodes that forwarders and their parts offer.
fn of_forwarders<'a>(ndn: &'a NdnNet, sdn: &'a SdnNet) -> impl Iterator<Item = &'static SeriesInfo> + 'a {
    let table = ndn.table.iter();
    let parts = table.clone().flat_map(|table| {
        let (strategy, link) = (table.strategy.present(), table.link.present());
        [strategy.map(|at| at.0.as_str()), link.map(|at| at.0.as_str())]
    });
    let parts = parts.flatten().chain(sdn.app());
    let own = parts.filter_map(schemes::find).flat_map(|entry| entry.scheme.series);
    table.flat_map(|_| ndn::SERIES).chain(own.filter(|row| row.2 == "node"))
}

/// Schemes that have a series of their own of that name.
fn offerers(series: &str) -> Vec<&'static str> {
    let offers = |entry: &schemes::Entry| entry.scheme.series.iter().any(|row| row.0 == series);
    schemes::catalogue().into_iter().filter(offers).map(|entry| entry.scheme.name).collect()
}
