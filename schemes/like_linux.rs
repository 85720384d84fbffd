//! Parameters with which schemes do what the kernel's do.

use contract::ParamValue;

/// Parameters with which a scheme does what the kernel's does.
pub fn like_linux(scheme: &str) -> Vec<(&'static str, ParamValue)> {
    match scheme {
        "reno" | "tcp_lp" | "bic" | "dctcp" => vec![("variant", "linux".into())],
        "cubic" => vec![
            ("variant", "linux".into()),
            ("hystart", "linux".into()),
            // the kernel counts in parts of 1024
            ("beta", (717.0 / 1024.0).into()),
            ("c", (410.0 / 1024.0).into()),
        ],
        // the defaults, written out: what is simulated is what the kernel does
        "bbr" => vec![
            ("variant", "linux".into()),
            ("pacing_margin", 0.01.into()),
            ("rtprop_refresh", "lower".into()),
        ],
        _ => Vec::new(),
    }
}
