//! State machines of nodes, placed in the network: routers, forwarders, then agents and the controller, which know the
//! forwarders.

use std::collections::BTreeMap;

use contract::ParamError;

use super::clocks::Clocks;
use super::nodes::Nodes;
use crate::Blueprint;
use crate::fabric::Fabric;

impl Nodes {
    /// Adds the state machines of all nodes.
    pub(super) fn place(
        &mut self,
        blueprint: &Blueprint,
        fabric: &mut Fabric,
        clocks: &Clocks,
    ) -> Result<(), ParamError> {
        if let Some(spec) = &blueprint.icn {
            self.place_routers(blueprint, spec, fabric.edges(), clocks)?;
        }
        let name_routes = match &blueprint.ndn {
            Some(spec) => self.place_forwarders(blueprint, spec, fabric.edges(), clocks)?,
            None => BTreeMap::new(),
        };
        if let Some(spec) = &blueprint.sdn {
            self.place_agents(blueprint, spec, fabric, clocks, &name_routes)?;
        }
        self.observe_ports(fabric);
        Ok(())
    }
}
