//! The words of assertions.

use crate::place::Place;
use crate::problem::Problem;

/// A word with its place and the byte at which it begins.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) place: Place,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// The kind of a word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Int(i128),
    Float(f64),
    Text(String),
    Name(String),
    Sign(&'static str),
    /// A character that is no part of the language.
    Strange,
    /// The end of a statement: a line's end outside of parentheses, or `;`.
    End,
}

const SIGNS: [&str; 26] = [
    "**", "//=", "//", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "=", "<", ">", "+", "-", "*",
    "/", "%", "&", "|", "(", ")", ",", ":",
];

/// The words of a text that begins at `place`.
pub(super) fn tokens(text: &str, place: Place) -> Result<Vec<Token>, Problem> {
    let mut all = Vec::new();
    let mut at = At { text, byte: 0, place };
    let mut depth = 0usize;
    while let Some(c) = at.peek() {
        let (start, place) = (at.byte, at.place);
        let mut push = |at: &At<'_>, kind| all.push(Token { place, start, end: at.byte, kind });
        match c {
            '\n' | ';' => {
                at.advance();
                if depth == 0 {
                    push(&at, Kind::End);
                }
            }
            '#' => {
                at.take(|c| c != '\n');
            }
            _ if c == '\\' || c.is_whitespace() => {
                at.advance();
            }
            '"' | '\'' => {
                at.advance();
                let inside = at.take(|next| next != c && next != '\n').to_owned();
                if at.advance() != Some(c) {
                    return Err(Problem::new(place, "this text has no end", format!("{c} ends it")));
                }
                push(&at, Kind::Text(inside));
            }
            _ if c.is_ascii_digit() || (c == '.' && at.digit_follows()) => {
                let kind = number(&mut at, place)?;
                push(&at, kind);
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                let name = at.take(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
                push(&at, Kind::Name(name));
            }
            _ => {
                let Some(sign) = SIGNS.into_iter().find(|sign| text[at.byte..].starts_with(sign)) else {
                    at.advance();
                    push(&at, Kind::Strange);
                    continue;
                };
                for _ in sign.chars() {
                    at.advance();
                }
                match sign {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                push(&at, Kind::Sign(sign));
            }
        }
    }
    Ok(all)
}

fn number(at: &mut At<'_>, place: Place) -> Result<Kind, Problem> {
    let wrong =
        |text: &str| Problem::new(place, format!("`{text}` is no number"), "such as `10`, `0x7f` or `0.5`");
    let text = at.take(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).map(Kind::Int).map_err(|_| wrong(text));
    }
    let plain = text.replace('_', "");
    if plain.contains('.') || plain.contains('e') {
        return plain
            .parse()
            .ok()
            .filter(|x: &f64| x.is_finite())
            .map(Kind::Float)
            .ok_or_else(|| wrong(text));
    }
    plain.parse().map(Kind::Int).map_err(|_| wrong(text))
}

struct At<'a> {
    text: &'a str,
    byte: usize,
    place: Place,
}

impl<'a> At<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.byte..].chars().next()
    }

    fn digit_follows(&self) -> bool {
        self.text[self.byte..].chars().nth(1).is_some_and(|c| c.is_ascii_digit())
    }

    fn advance(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.byte += next.len_utf8();
        if next == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(next)
    }

    fn take(&mut self, accepts: impl Fn(char) -> bool) -> &'a str {
        let start = self.byte;
        while self.peek().is_some_and(&accepts) {
            self.advance();
        }
        &self.text[start..self.byte]
    }
}
