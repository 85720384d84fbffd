//! Addresses of forwarders in the notation for users.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a forwarder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceUri {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and a port that UDP reaches.
    Udp(String, u16),
}

impl FaceUri {
    /// The port of NDN over UDP.
    pub const PORT: u16 = 6363;
}

impl FromStr for FaceUri {
    type Err = String;

    /// `unix:///run/nfd/nfd.sock`, `udp://host`, `udp://host:port`, `udp4://…`, `udp://[::1]:6363`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            |why: &str| format!("`{text}`: {why}, such as unix:///run/nfd/nfd.sock or udp://192.0.2.1:6363");
        let (kind, rest) =
            text.split_once("://").ok_or_else(|| wrong("a face is a scheme and an address"))?;
        match kind {
            "unix" if rest.starts_with('/') => Ok(Self::Unix(rest.into())),
            "unix" => Err(wrong("a Unix socket needs an absolute path")),
            "udp" | "udp4" | "udp6" => {
                let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                    Some((host, rest)) => (host, rest.strip_prefix(':')),
                    None => rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
                };
                let port = port.map_or(Ok(Self::PORT), str::parse).map_err(|_| wrong("that is no port"))?;
                if host.is_empty() {
                    Err(wrong("the host is missing"))
                } else {
                    Ok(Self::Udp(host.to_owned(), port))
                }
            }
            _ => Err(wrong("faces are `unix` and `udp`")),
        }
    }
}

impl fmt::Display for FaceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Udp(host, port) if host.contains(':') => write!(f, "udp://[{host}]:{port}"),
            Self::Udp(host, port) => write!(f, "udp://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_write_them() {
        for (text, expected) in [
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
            ("udp://10.0.0.1", "udp://10.0.0.1:6363"),
            ("udp4://10.0.0.1:7000", "udp://10.0.0.1:7000"),
            ("udp6://[::1]:7000", "udp://[::1]:7000"),
            ("udp://[fe80::1]", "udp://[fe80::1]:6363"),
            ("udp://router.example", "udp://router.example:6363"),
        ] {
            assert_eq!(text.parse::<FaceUri>().map(|place| place.to_string()), Ok(expected.to_owned()));
        }
    }

    #[test]
    fn what_is_no_place_is_refused_with_an_example() {
        for text in
            ["", "nfd.sock", "tcp://10.0.0.1", "unix://nfd.sock", "udp://", "udp://a:b", "udp://a:70000"]
        {
            let why = text.parse::<FaceUri>().expect_err(text);
            assert!(why.contains("udp://192.0.2.1:6363"), "{why}");
        }
    }
}
