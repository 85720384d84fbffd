//! Warnings about `[expect]`: results that the scenario cannot measure.

use contract::NodeId;
use sim::{FlowKind, FlowSpec};
use stack::ndn;
use stack::stream::Video;

use super::is_finite;
use crate::Plan;
use crate::schema::file::File;
use crate::schema::read::Notes;
use crate::topology::Net;

/// Reports expectations of results that are never measured and therefore always fail.
pub(crate) fn build(file: &File, plan: &Plan, net: &Net, notes: &mut Notes) {
    for (key, _) in file.expect.present().map_or(&[][..], |expect| &expect.0) {
        if let Some((why, hint)) = why(key, plan, net) {
            notes.warn(key.location, format!("`{}` is never measured: {why}", key.value)).hint(hint);
        }
    }
}

/// Why a key has no value in any run, and a hint; `None` if it may have one.
fn why(key: &str, plan: &Plan, net: &Net) -> Option<(&'static str, &'static str)> {
    let (subject, last) = key.rsplit_once('.')?;
    let (kind, name) = subject.split_once('.').unwrap_or((subject, ""));
    let flows = || plan.blueprint.flows.iter();
    match kind {
        "flow" => of_flows(last, &flows().filter(|flow| flow.name == name).collect::<Vec<_>>(), plan),
        "flows" if name.is_empty() => of_flows(last, &flows().collect::<Vec<_>>(), plan),
        "flows" => {
            let group = plan.groups.iter().find(|group| group.name == name)?;
            let members = group.flows.iter().map(|id| &plan.blueprint.flows[id.index()]);
            of_flows(last, &members.collect::<Vec<_>>(), plan)
        }
        "receiver" => {
            let flow = name.split_once('@')?.0;
            let flows: Vec<&FlowSpec> = flows().filter(|spec| spec.name == flow).collect();
            of_a_player(last).then_some(())?;
            (!flows.iter().any(|flow| plays(flow))).then_some(PLAYER)
        }
        "link" => (matches!(last, "queue_p50" | "queue_p95" | "queue_p99")
            && !plan.blueprint.record.distributions)
            .then_some(("distributions are not recorded", "write distributions = true under [record]")),
        "node" => of_a_node(last, net.node(name)?, plan),
        _ => None,
    }
}

const PLAYER: (&str, &str) =
    ("no receiver plays a video", "write a `source` of frames and a `player` in the flow");

/// Whether a key is a result of receivers that play a video.
fn of_a_player(last: &str) -> bool {
    (last.starts_with("frames_") && last != "frames_dropped")
        || matches!(last, "stalls" | "stalled" | "startup")
}

fn plays(flow: &FlowSpec) -> bool {
    matches!(&*flow.kind, FlowKind::Stream(config) if config.player.is_some())
}

/// Whether a flow has a scheme, or a controller of its stack.
fn controlled(flow: &FlowSpec) -> bool {
    flow.scheme.is_some() || matches!(*flow.kind, FlowKind::Stack(_))
}

fn of_flows(last: &str, flows: &[&FlowSpec], plan: &Plan) -> Option<(&'static str, &'static str)> {
    if flows.is_empty() {
        return None;
    }
    let none = |able: fn(&FlowSpec) -> bool| !flows.iter().any(|flow| able(flow));
    let consumes = |flow: &FlowSpec| matches!(*flow.kind, FlowKind::Ndn(_));
    let encodes = |flow: &FlowSpec| matches!(&*flow.kind, FlowKind::Stream(config) if config.video.as_ref().is_some_and(Video::follows));
    let has_frames =
        |flow: &FlowSpec| matches!(&*flow.kind, FlowKind::Stream(config) if config.video.is_some());
    let record = &plan.blueprint.record;
    let recorded = |series: &str| record.series.iter().any(|name| name == series);
    match last {
        "completed" | "fct" | "fct_p50" | "fct_p95" | "fct_p99" if none(is_finite) => Some((
            "the flow has no `size`, and never completes",
            "write size = \"10 MB\" in the flow, or `arrivals`",
        )),
        "cov" | "convergence" | "fairness_mean" | "fairness_min" | "recovery" if !recorded("rate") => {
            Some(("the series `rate` is not recorded", "write series = [\"rate\"] under [record]"))
        }
        "recovery" if plan.blueprint.events.is_empty() => {
            Some(("the scenario has no events", "write what changes under [[events]]"))
        }
        "fairness" | "fairness_mean" | "fairness_min" | "convergence" if none(controlled) => {
            Some(("no flow has a scheme", "write scheme = \"cubic\" in a flow"))
        }
        _ if last.starts_with("rtp_queue") && none(encodes) => Some((
            "it is of streams whose encoder follows the scheme",
            "write an `encoder` in the flow, such as encoder = { max = \"2 Mbit/s\" }",
        )),
        _ if matches!(last.split('_').next(), Some("delay")) && none(consumes) && none(encodes) => Some((
            "it is of consumers of named data, and of the frames of an `encoder`",
            "`owd` is the one-way delay of a flow's packets, `queueing_delay` what they wait",
        )),
        _ if last.starts_with("delay_p") && none(encodes) && !record.distributions => {
            Some(("distributions are not recorded", "write distributions = true under [record]"))
        }
        "rtt" | "rtt_min" if none(|flow| !matches!(*flow.kind, FlowKind::Datagram(_))) => Some((
            "a source without congestion control measures no round-trip time",
            "`owd` is the one-way delay of its packets",
        )),
        "frames_dropped" if none(has_frames) => {
            Some(("no flow carries a video", "write a `source` of frames in the flow"))
        }
        _ if of_a_player(last) && none(plays) => Some(PLAYER),
        _ => None,
    }
}

fn of_a_node(last: &str, node: NodeId, plan: &Plan) -> Option<(&'static str, &'static str)> {
    let counted = ndn::Tally::ALL.into_iter().any(|tally| tally.name() == last);
    let of_forwarders =
        matches!(last, "part_operations" | "pending" | "pending_peak" | "stored" | "hit_ratio");
    let spec = plan.blueprint.ndn.as_ref().filter(|spec| spec.nodes.binary_search(&node).is_ok());
    if !(counted || of_forwarders) {
        return None;
    }
    let Some(spec) = spec else {
        return Some(("the node does not forward named data", "name a node of ndn.nodes"));
    };
    let own = spec.stores.iter().find(|(at, _)| *at == node).map(|(_, store)| *store);
    let store = own.unwrap_or(spec.config.store);
    let empty = store.size == 0 || store.policy == ndn::Policy::None;
    (last == "hit_ratio" && empty)
        .then_some(("the node has no content store", "write store = { size = 100 } under [ndn]"))
}
