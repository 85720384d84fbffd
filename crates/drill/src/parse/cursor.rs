//! A position in a text.

use units::Duration;

use crate::place::Place;
use crate::problem::Problem;

/// A position in a text, which only advances.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    place: Place,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, place: Place { line: 1, column: 1 } }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) const fn place(&self) -> Place {
        self.place
    }

    pub(super) const fn offset(&self) -> usize {
        self.at
    }

    /// The text from byte `start` to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Whether `what` comes next.
    pub(super) fn sees(&self, what: &str) -> bool {
        self.rest().starts_with(what)
    }

    pub(super) fn advance(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        if next == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(next)
    }

    /// Advances over `what` if it comes next.
    pub(super) fn eat(&mut self, what: &str) -> bool {
        let found = self.sees(what);
        if found {
            for _ in what.chars() {
                self.advance();
            }
        }
        found
    }

    pub(super) fn eat_while(&mut self, accepts: impl Fn(char) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&accepts) {
            self.advance();
        }
        self.since(start)
    }

    /// Advances over blanks, ends of lines and comments.
    pub(super) fn skip_blank(&mut self) -> Result<(), Problem> {
        loop {
            self.eat_while(char::is_whitespace);
            if self.sees("//") || self.sees("#") {
                self.eat_while(|c| c != '\n');
            } else if self.sees("/*") {
                self.enclosed("/*", "*/", "comment")?;
            } else {
                return Ok(());
            }
        }
    }

    /// The text between `open`, which comes next, and `close`.
    pub(super) fn enclosed(&mut self, open: &str, close: &str, what: &str) -> Result<&'a str, Problem> {
        let place = self.place;
        self.eat(open);
        let start = self.at;
        let Some(len) = self.rest().find(close) else {
            return Err(Problem::new(
                place,
                format!("this {what} has no end"),
                format!("it ends with `{close}`"),
            ));
        };
        while self.at < start + len {
            self.advance();
        }
        let text = self.since(start);
        self.eat(close);
        Ok(text)
    }

    /// A word of letters, digits and underscores, which may be empty.
    pub(super) fn word(&mut self) -> &'a str {
        self.eat_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// A whole number of at most `limit`.
    pub(super) fn number(&mut self, what: &str, limit: u64) -> Result<u64, Problem> {
        let place = self.place;
        let digits = self.eat_while(|c| c.is_ascii_digit());
        let value = digits.parse::<u64>().ok().filter(|value| *value <= limit);
        value.ok_or_else(|| match digits {
            "" => Problem::new(place, format!("{what} is missing here"), "a whole number"),
            _ => Problem::new(place, format!("{what} {digits} is too large"), format!("at most {limit}")),
        })
    }

    /// A time in seconds with up to nine decimals.
    pub(super) fn time(&mut self) -> Result<Duration, Problem> {
        let place = self.place;
        let wrong = |text: &str| {
            Problem::new(place, format!("`{text}` is not a time"), "seconds, such as `0.1`, `+.1` or `*`")
        };
        let whole = self.eat_while(|c| c.is_ascii_digit());
        let mut part = "";
        if self.sees(".") && !self.sees("..") {
            self.advance();
            part = self.eat_while(|c| c.is_ascii_digit());
        }
        let seconds = if whole.is_empty() { Some(0) } else { whole.parse::<u64>().ok() };
        if (whole.is_empty() && part.is_empty()) || part.len() > 9 {
            return Err(wrong(if part.is_empty() {
                self.rest().split_whitespace().next().unwrap_or("")
            } else {
                part
            }));
        }
        let nanos = format!("{part:0<9}").parse::<u64>().ok();
        match (seconds.filter(|seconds| *seconds < LONGEST), nanos) {
            (Some(seconds), Some(nanos)) => Ok(Duration::from_nanos(seconds * 1_000_000_000 + nanos)),
            _ => Err(wrong(whole)),
        }
    }
}

/// Seconds that a script may last: a day.
const LONGEST: u64 = 86_400;
