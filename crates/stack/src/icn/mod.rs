//! Multicast by name beside IP: sources and members speak to their access routers, routers build trees hop by hop, and a name
//! resolution system says where a group's tree can be reached [SRMCC §3.1].

mod config;

pub use config::Config;
