//! An SDN controller for real forwarders, configured with a scenario's network.

use std::sync::Arc;

use contract::Count;
use driver::Udp;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use quic_net::sdn::{Control, Error, Network, Settings, Stats, control};
use quic_net::{Credentials, Limits};
use serde_json::{Value, json};
use sim::World;

use crate::forward::{address, discarded};
use crate::scenario::Plan;

/// A handle by which another thread observes and stops a controller.
#[pyclass(frozen, module = "thalweg._native")]
pub struct SdnControl(Arc<Control>);

#[pymethods]
impl SdnControl {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Recent status as JSON; None before the start.
    #[getter]
    fn stats(&self) -> Option<String> {
        self.0.status().map(|stats| stats_json(&stats).to_string())
    }

    /// Requests the end.
    fn stop(&self) {
        self.0.stop();
    }
}

/// Controls forwarders with the network and `[sdn]` of a plan, at `listen`, until it is stopped. Returns its status as
/// JSON. Raises `ValueError` for plans without named data and a controller, `OSError` for a socket that cannot be
/// opened.
#[pyfunction]
pub fn ndn_control(
    py: Python<'_>,
    plan: &Plan,
    listen: &str,
    key: Vec<u8>,
    control: &SdnControl,
) -> PyResult<String> {
    let settings = settings_of(plan, &key)?;
    let at = address(listen, "listen")?;
    let watch = Arc::clone(&control.0);
    let ended = py.detach(|| -> Result<Value, Failure> {
        let mut socket = Udp::bind(at).map_err(Failure::Socket)?;
        let stats = self::control(settings, &mut socket, &watch).map_err(Failure::Settings)?;
        Ok(stats_json(&stats))
    });
    match ended {
        Ok(report) => Ok(report.to_string()),
        Err(Failure::Socket(error)) => Err(PyOSError::new_err(format!("{at}: {error}"))),
        Err(Failure::Settings(error)) => Err(PyValueError::new_err(error.to_string())),
    }
}

enum Failure {
    Socket(std::io::Error),
    Settings(Error),
}

fn settings_of(plan: &Plan, key: &[u8]) -> PyResult<Settings> {
    let blueprint = plan.blueprint();
    let without = |what: &str| PyValueError::new_err(format!("the scenario has no {what}"));
    let spec = blueprint.sdn.as_ref().ok_or_else(|| without("controller: `[sdn]`"))?;
    let named = blueprint.ndn.as_ref().ok_or_else(|| without("named data: `[ndn]`"))?;
    let wrong = |error: contract::ParamError| {
        PyValueError::new_err(format!("parameter `{}`: {}", error.name, error.message))
    };
    let world = World::new(blueprint).map_err(wrong)?;
    let net = world.controller_net().ok_or_else(|| without("controller: `[sdn]`"))?;
    let prefixes = net.origins.keys().map(|id| {
        let text = named.names.text(*id);
        let name =
            text.parse().map_err(|error| PyValueError::new_err(format!("prefix `{text}`: {error}")))?;
        Ok((*id, name))
    });
    let prefixes = prefixes.collect::<PyResult<Vec<_>>>()?;
    let network = Network {
        net,
        nodes: blueprint.nodes.iter().map(|name| name.to_string()).collect(),
        links: blueprint
            .links
            .iter()
            .flat_map(|link| [link.name.to_string(), link.name.to_string()])
            .collect(),
        prefixes,
    };
    let credentials = Credentials::shared(key).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Settings {
        network,
        app: spec.app.clone(),
        app_params: spec.app_params.clone(),
        data: named.config.data,
        config: spec.config.clone(),
        credentials,
        limits: Limits::default(),
        seed: blueprint.seed,
    })
}

fn stats_json(stats: &Stats) -> Value {
    let count = |what| stats.meter.count(what);
    let nodes: Vec<Value> = stats
        .nodes
        .iter()
        .map(|node| {
            let loads = node.loads.iter().map(|(link, load)| {
                json!({ "link": link, "load": f64::from(*load) / f64::from(contract::MILLION) })
            });
            json!({
                "name": node.name,
                "at": node.at.map(|at| at.to_string()),
                "loads": loads.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "nodes": nodes,
        "statuses": count(Count::Statuses),
        "signals": count(Count::Signals),
        "commands": count(Count::Commands),
        "commands_retransmitted": count(Count::CommandRetransmits),
        "commands_open": stats.open_commands,
        "reroutes": count(Count::Reroutes),
        "ignored": count(Count::Ignored),
        "begun": stats.starts,
        "unknown_nodes": stats.unknown,
        "datagrams_sent": stats.sent.datagrams,
        "datagrams_received": stats.received.datagrams,
        "refused": discarded(&stats.discarded),
    })
}
