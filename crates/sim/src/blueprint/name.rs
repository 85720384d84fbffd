//! Names of nodes, links and flows.

use std::fmt;
use std::ops::Deref;

/// A name of a node, link or flow. One of up to fourteen bytes takes no memory beside its own sixteen: a large network has several names per flow.
#[derive(Clone)]
pub struct Name(Text);

const SHORT: usize = 14;

#[derive(Clone)]
enum Text {
    /// The first `length` bytes.
    Short { length: u8, bytes: [u8; SHORT] },
    #[expect(clippy::box_collection, reason = "a box of eight bytes, because few names are long")]
    Long(Box<String>),
}

const _: () = assert!(size_of::<Name>() == 16);

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Short { length, bytes } => {
                std::str::from_utf8(&bytes[..usize::from(*length)]).expect("it was copied from a text")
            }
            Text::Long(text) => text,
        }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(short) => {
                short.copy_from_slice(text.as_bytes());
                Self(Text::Short { length: text.len() as u8, bytes })
            }
            None => Self(Text::Long(Box::new(text.to_owned()))),
        }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for Name {
    fn eq(&self, other: &T) -> bool {
        self.as_str() == other.as_ref()
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_length_is_its_text() {
        for text in ["", "a", "fourteen-bytes", "fifteen--bytes.", "Ωμέγα…", "a much longer name of a node"]
        {
            let name = Name::from(text);
            assert_eq!(
                (name.as_str(), &*name.to_string(), format!("{name:?}")),
                (text, text, format!("{text:?}"))
            );
            assert!(name == *text && name == name.clone() && name != *"other");
        }
    }
}
