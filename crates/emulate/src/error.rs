//! Why emulations fail.

use contract::ParamError;

/// Why an emulation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The blueprint is invalid.
    #[error("{}: {}", .0.name, .0.message)]
    Refused(ParamError),
    /// The process has no permission to make network namespaces.
    #[error("emulation needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN: {what} was refused ({source})")]
    NotPermitted {
        /// The operation that was rejected.
        what: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system is not Linux.
    #[error("real nodes need Linux")]
    NotLinux,
    /// The kernel has no such congestion control.
    #[error("the kernel has no congestion control `{name}`; it has {available}")]
    NoCongestionControl {
        /// The requested name.
        name: String,
        /// The available names.
        available: String,
    },
    /// The kernel cannot be configured for a setting of the scenario's `tcp`.
    #[error("flow `{flow}`: {message}")]
    Setting {
        /// The flow.
        flow: String,
        /// The setting and the reason.
        message: String,
    },
    /// Another error of the system.
    #[error("{what}: {source}")]
    System {
        /// The operation that failed.
        what: String,
        /// The error of the system.
        source: std::io::Error,
    },
}
