//! Management commands to forwarders [NFD-mgmt]: registration of routes, and the answers.

use super::tlv::{self, Reader};
use super::{Component, Interest, Malformed, Name, NameView, kind};
use crate::printable;

/// The parameters of a command. The forwarder chooses those that are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The prefix of a route.
    pub name: Option<Name>,
    /// Number of a face; `None` for the face of the command.
    pub face: Option<u64>,
    /// URI of a face, such as `udp4://10.0.0.1:6363`.
    pub uri: Option<String>,
    /// Origin of a route; 0 for programs.
    pub origin: Option<u64>,
    /// Cost of a route.
    pub cost: Option<u64>,
    /// Flags of a route: 1 for child inherit, 2 for capture.
    pub flags: Option<u64>,
    /// Milliseconds until a route expires.
    pub expiration_ms: Option<u64>,
    /// The name of a strategy.
    pub strategy: Option<Name>,
}

impl Arguments {
    /// Parameters for a route of names below `prefix` to the sender of the command.
    pub fn route(prefix: Name) -> Self {
        Self { name: Some(prefix), ..Self::default() }
    }

    /// Reads the value of an element of [`kind::CONTROL_PARAMETERS`]. Other fields are ignored.
    fn read(value: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(value);
        let mut arguments = Self::default();
        while let Some(element) = reader.next()? {
            match element.kind {
                kind::NAME => arguments.name = Some(NameView::read(element.value)?.to_name()),
                kind::FACE_ID => arguments.face = Some(element.number()?),
                kind::URI => arguments.uri = Some(text(element.value)),
                kind::ORIGIN => arguments.origin = Some(element.number()?),
                kind::COST => arguments.cost = Some(element.number()?),
                kind::FLAGS => arguments.flags = Some(element.number()?),
                kind::EXPIRATION => arguments.expiration_ms = Some(element.number()?),
                kind::STRATEGY => {
                    let name = tlv::whole(element.value, kind::NAME)?;
                    arguments.strategy = Some(NameView::read(name.value)?.to_name());
                }
                _ => {}
            }
        }
        Ok(arguments)
    }

    /// Appends an element of [`kind::CONTROL_PARAMETERS`].
    fn write(&self, out: &mut Vec<u8>) {
        let mut value = Vec::with_capacity(64);
        if let Some(name) = &self.name {
            name.view().write(&mut value);
        }
        let mut number = |kind, field: Option<u64>| {
            if let Some(field) = field {
                tlv::write_number(&mut value, kind, field);
            }
        };
        number(kind::FACE_ID, self.face);
        if let Some(uri) = &self.uri {
            tlv::write(&mut value, kind::URI, uri.as_bytes());
        }
        let mut number = |kind, field: Option<u64>| {
            if let Some(field) = field {
                tlv::write_number(&mut value, kind, field);
            }
        };
        number(kind::ORIGIN, self.origin);
        number(kind::COST, self.cost);
        number(kind::FLAGS, self.flags);
        if let Some(strategy) = &self.strategy {
            let mut name = Vec::new();
            strategy.view().write(&mut name);
            tlv::write(&mut value, kind::STRATEGY, &name);
        }
        if let Some(expiration) = self.expiration_ms {
            tlv::write_number(&mut value, kind::EXPIRATION, expiration);
        }
        tlv::write(out, kind::CONTROL_PARAMETERS, &value);
    }
}

/// Printable text, with control characters escaped.
fn text(bytes: &[u8]) -> String {
    printable(&String::from_utf8_lossy(bytes))
}

/// A command in the form that a forwarder reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Module: `rib`, `faces`, ….
    pub module: String,
    /// Verb: `register`, `create`, ….
    pub verb: String,
    /// Parameters.
    pub arguments: Arguments,
}

impl Command {
    /// Prefix of commands to the forwarder of the same host.
    pub const LOCAL: &'static str = "/localhost/nfd";
    /// Prefix of commands to the next forwarder.
    pub const NEXT: &'static str = "/localhop/nfd";

    /// Reads the command in the name of an Interest: a prefix of two components, module, verb, parameters, and the
    /// components of its signature.
    pub fn read(name: NameView<'_>) -> Result<Self, Malformed> {
        let mut components = name.components().skip(2);
        let mut next = || components.next().ok_or(Malformed::Missing(kind::GENERIC));
        let (module, verb, parameters) = (next()?, next()?, next()?);
        let parameters = tlv::whole(parameters.value, kind::CONTROL_PARAMETERS)?;
        Ok(Self {
            module: text(module.value),
            verb: text(verb.value),
            arguments: Arguments::read(parameters.value)?,
        })
    }

    /// Whether a name names a command, to the forwarder of the host or the next one.
    pub fn is_command(name: NameView<'_>) -> bool {
        let mut components = name.components().map(|component| (component.kind, component.value));
        let first = components.next();
        [&b"localhost"[..], b"localhop"].iter().any(|host| first == Some((kind::GENERIC, host)))
            && components.next() == Some((kind::GENERIC, b"nfd"))
    }
}

/// Appends the Interest of a command with a signature by digest. `local` is for a forwarder on the same host; `nonce`
/// is a random number, `time_ms` milliseconds since 1970.
pub fn command(
    local: bool,
    (module, verb): (&str, &str),
    arguments: &Arguments,
    nonce: u64,
    time_ms: u64,
    out: &mut Vec<u8>,
) {
    let mut parameters = Vec::new();
    arguments.write(&mut parameters);
    let mut name = Name::new();
    let host: &[u8] = if local { b"localhost" } else { b"localhop" };
    for value in [host, b"nfd", module.as_bytes(), verb.as_bytes(), &parameters] {
        name.push(Component::generic(value));
    }
    let interest = Interest {
        name: name.view(),
        must_be_fresh: true,
        nonce: Some((nonce >> 32) as u32 ^ nonce as u32),
        lifetime_ms: Some(1000),
        ..Interest::default()
    };
    interest.write_signed(&[], nonce, time_ms, out);
}

/// The response of a forwarder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Status code; 200 for success, as in HTTP.
    pub code: u64,
    /// Status text.
    pub text: String,
    /// The parameters of the executed command, with the forwarder's choices.
    pub arguments: Option<Arguments>,
}

impl Response {
    /// Success.
    pub const OK: u64 = 200;

    /// Reads the content of the Data that answers a command.
    pub fn read(content: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(tlv::whole(content, kind::CONTROL_RESPONSE)?.value);
        let code = reader.take(kind::STATUS_CODE)?.number()?;
        let text = text(reader.take(kind::STATUS_TEXT)?.value);
        let arguments = match reader.next()? {
            Some(element) if element.kind == kind::CONTROL_PARAMETERS => {
                Some(Arguments::read(element.value)?)
            }
            _ => None,
        };
        Ok(Self { code, text, arguments })
    }

    /// Appends it as the content of a Data packet.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut value = Vec::with_capacity(64);
        tlv::write_number(&mut value, kind::STATUS_CODE, self.code);
        tlv::write(&mut value, kind::STATUS_TEXT, self.text.as_bytes());
        if let Some(arguments) = &self.arguments {
            arguments.write(&mut value);
        }
        tlv::write(out, kind::CONTROL_RESPONSE, &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::testing::hex;

    fn name(text: &str) -> Name {
        text.parse().expect("a name")
    }

    #[test]
    fn a_command_is_an_interest_with_its_parameters_in_the_name() {
        let mut out = Vec::new();
        let arguments = Arguments { cost: Some(10), ..Arguments::route(name("/test/f")) };
        command(true, ("rib", "register"), &arguments, 0x1_0000_0002, 1_600_000_000_000, &mut out);
        let interest = Interest::read(&out).expect("an Interest");
        assert!(interest.intact() && interest.must_be_fresh && !interest.can_be_prefix);
        assert_eq!(interest.nonce, Some(3));
        assert!(
            interest.name.to_string().starts_with("/localhost/nfd/rib/register/h%0E%07%09%08%04test%08%01f")
        );
        assert!(Command::is_command(interest.name));
        let read = Command::read(interest.name).expect("a command");
        assert_eq!((read.module.as_str(), read.verb.as_str()), ("rib", "register"));
        assert_eq!(read.arguments, arguments);
    }

    #[test]
    fn a_forwarders_sentence_cannot_command_a_terminal() {
        let messages =
            Response { code: 403, text: "no\x1b]0;owned\x07\n\u{9b}2J\u{202e}".to_owned(), arguments: None };
        let mut bytes = Vec::new();
        messages.write(&mut bytes);
        let read = Response::read(&bytes).expect("an answer");
        assert_eq!(read.text, "no\\x1b]0;owned\\x07\\n\\u{9b}2J\\u{202e}");
    }

    #[test]
    fn a_name_cannot_command_a_terminal() {
        let mut name = Name::new();
        name.push(Component::generic("a\x1b]0;owned\x07\n\u{9b}2J\u{202e}".as_bytes()));
        let shown = name.to_string();
        assert!(shown.bytes().all(|byte| byte.is_ascii_graphic()), "{shown}");
    }

    #[test]
    fn all_arguments_are_written_and_read() {
        let arguments = Arguments {
            name: Some(name("/a")),
            face: Some(256),
            uri: Some("udp4://127.0.0.1:6363".to_owned()),
            origin: Some(65),
            cost: Some(0),
            flags: Some(1),
            expiration_ms: Some(3_600_000),
            strategy: Some(name("/localhost/nfd/strategy/multicast")),
        };
        let response = Response { code: 200, text: "OK".to_owned(), arguments: Some(arguments) };
        let mut out = Vec::new();
        response.write(&mut out);
        assert_eq!(Response::read(&out), Ok(response));
    }

    #[test]
    fn what_is_no_command_or_answer_is_refused() {
        assert!(!Command::is_command(name("/localhost/nlsr").view()));
        assert!(!Command::is_command(name("/a/localhost/nfd").view()));
        assert!(Command::is_command(name("/localhop/nfd/rib").view()));
        for text in ["/localhost/nfd/rib", "/localhost/nfd/rib/register", "/localhost/nfd/rib/register/x"] {
            assert!(Command::read(name(text).view()).is_err(), "{text}");
        }
        for bytes in ["", "6500", "6503 6601c8", "6403 6601c8"] {
            assert!(Response::read(&hex(bytes)).is_err(), "{bytes}");
        }
    }
}
