//! The parser of scripts.

mod call;
mod cursor;
mod packet;

use self::cursor::Cursor;
use crate::code;
use crate::place::Place;
use crate::problem::{Problem, nearest};
use crate::script::{Direction, Event, Script, Setting, Shell, What, When};

/// Reads a script.
///
/// # Errors
///
/// The first error in it, with its place and what to write instead. Lines that are right and cannot be expressed here
/// are no errors: they are [`What::Beyond`].
pub fn parse(text: &str) -> Result<Script, Problem> {
    let mut cursor = Cursor::new(text);
    let mut script = Script::default();
    loop {
        cursor.skip_blank()?;
        match cursor.peek() {
            None => return Ok(script),
            Some('-') if cursor.sees("--") => {
                let option = option(&mut cursor)?;
                if let Some(event) = script.events.first() {
                    let hint = format!("write it before the first event, in line {}", event.place.line);
                    return Err(Problem::new(
                        option.place,
                        format!("option `--{}` comes late", option.name),
                        hint,
                    ));
                }
                script.options.push(option);
            }
            Some('`') => {
                let place = cursor.place();
                let shell = shell(&mut cursor)?;
                if script.events.is_empty() {
                    script.head.push(shell);
                } else {
                    // what cleans up after the script
                    script.events.push(Event { place, when: When::Any, what: What::Shell(shell) });
                }
            }
            Some(_) => script.events.push(event(&mut cursor)?),
        }
    }
}

/// `--name=value`
fn option(cursor: &mut Cursor<'_>) -> Result<Setting, Problem> {
    let place = cursor.place();
    cursor.eat("--");
    let name = cursor.word().to_owned();
    if name.is_empty() {
        return Err(Problem::new(place, "an option has no name", "such as `--tolerance_usecs=20000`"));
    }
    let value = if cursor.eat("=") { cursor.eat_while(|c| !c.is_whitespace()) } else { "" };
    Ok(Setting { place, name, value: value.to_owned() })
}

fn shell(cursor: &mut Cursor<'_>) -> Result<Shell, Problem> {
    let mut place = cursor.place();
    place.column += 1;
    let text = cursor.enclosed("`", "`", "list of commands")?.to_owned();
    Ok(Shell { place, text })
}

fn event(cursor: &mut Cursor<'_>) -> Result<Event, Problem> {
    let place = cursor.place();
    let when = when(cursor)?;
    cursor.skip_blank()?;
    let what = what(cursor, place)?;
    Ok(Event { place, when, what })
}

/// The time of an event.
fn when(cursor: &mut Cursor<'_>) -> Result<When, Problem> {
    let place = cursor.place();
    if cursor.eat("*") {
        return Ok(When::Any);
    }
    let relative = cursor.eat("+");
    let from = cursor.time()?;
    cursor.eat_while(|c| c == ' ' || c == '\t');
    let ranged = cursor.sees("~");
    if !ranged && !cursor.sees("...") {
        return Ok(if relative { When::After(from) } else { When::At(from) });
    }
    cursor.eat(if ranged { "~" } else { "..." });
    cursor.eat_while(|c| c == ' ' || c == '\t');
    let plus = cursor.eat("+");
    let to = cursor.time()?;
    if plus && !relative {
        return Err(Problem::new(
            place,
            "the end of this range is relative and its start is not",
            "write `+` before both",
        ));
    }
    if ranged && relative && !plus {
        return Err(Problem::new(
            place,
            "the start of this range is relative and its end is not",
            "write `+` before both",
        ));
    }
    if to < from {
        return Err(Problem::new(place, "this range ends before it starts", "the earlier time comes first"));
    }
    Ok(match (ranged, relative) {
        (true, false) => When::Between(from, to),
        (true, true) => When::AfterBetween(from, to),
        (false, false) => When::Blocks(from, to),
        (false, true) => When::AfterBlocks(from, to),
    })
}

fn what(cursor: &mut Cursor<'_>, place: Place) -> Result<What, Problem> {
    match cursor.peek() {
        Some('<') => packet::packet(cursor, Direction::In),
        Some('>') => packet::packet(cursor, Direction::Out),
        Some('`') => Ok(What::Shell(shell(cursor)?)),
        Some('%') if cursor.sees("%{") => {
            let mut inside = cursor.place();
            inside.column += 2;
            let text = cursor.enclosed("%{", "}%", "block of assertions")?.to_owned();
            let statements = code::parse(&text, inside)?;
            Ok(What::Code(text, statements))
        }
        Some(c) if c.is_ascii_alphabetic() => call::call(cursor),
        _ => {
            let next: String = cursor.rest().chars().take_while(|c| !c.is_whitespace()).take(20).collect();
            let hint =
                "after the time comes `<`, `>`, a system call, `%{ assert … }%` or a command in backticks";
            match next.as_str() {
                "" => Err(Problem::new(place, "nothing happens at this time", hint)),
                _ => Err(Problem::new(cursor.place(), format!("`{next}` begins no event"), hint)),
            }
        }
    }
}

/// A message that names what is unknown, with the nearest known name.
fn unknown<'a>(
    place: Place,
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Problem {
    let hint = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Problem::new(place, format!("{what} `{name}` is unknown"), hint)
}
