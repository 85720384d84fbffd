//! System calls.

use super::cursor::Cursor;
use crate::problem::Problem;
use crate::script::{Call, What};

/// `write(4, ..., 1000) = 1000`
pub(super) fn call(cursor: &mut Cursor<'_>) -> Result<What, Problem> {
    let place = cursor.place();
    let name = cursor.word().to_owned();
    cursor.skip_blank()?;
    if !cursor.eat("(") {
        return Err(Problem::new(
            place,
            format!("`{name}` is followed by no arguments"),
            "a system call, such as `write(4, ..., 1000) = 1000`",
        ));
    }
    let arguments = arguments(cursor)?;
    cursor.skip_blank()?;
    if !cursor.eat("=") {
        return Err(Problem::new(
            cursor.place(),
            format!("`{name}` has no result"),
            "such as `= 0`, `= -1 EAGAIN` or `= ...`",
        ));
    }
    cursor.skip_blank()?;
    let result = result(cursor)?;
    cursor.eat_while(|c| c == ' ' || c == '\t');
    let error = cursor.peek().filter(char::is_ascii_uppercase).map(|_| cursor.word().to_owned());
    cursor.eat_while(|c| c == ' ' || c == '\t');
    if cursor.sees("(") {
        // the error in words
        cursor.enclosed("(", ")", "text of an error")?;
    }
    Ok(What::Call(Call { name, arguments, result, error }))
}

fn result(cursor: &mut Cursor<'_>) -> Result<Option<i64>, Problem> {
    if cursor.eat("...") {
        return Ok(None);
    }
    let negative = cursor.eat("-");
    if cursor.eat("0x") {
        let place = cursor.place();
        let digits = cursor.eat_while(|c| c.is_ascii_hexdigit());
        let value = i64::from_str_radix(digits, 16);
        return value.map(Some).map_err(|_| Problem::new(place, "this is no number", "such as `0x1f`"));
    }
    let value = cursor.number("the result", i64::MAX as u64)? as i64;
    Ok(Some(if negative { -value } else { value }))
}

/// Arguments up to the closing parenthesis, as text.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Problem> {
    let place = cursor.place();
    let (mut all, mut text, mut depth) = (Vec::new(), String::new(), 0usize);
    loop {
        let before = cursor.offset();
        if cursor.sees("//") || cursor.sees("/*") || cursor.peek().is_some_and(char::is_whitespace) {
            cursor.skip_blank()?;
        }
        if cursor.offset() > before && !text.is_empty() {
            text.push(' ');
        }
        let Some(next) = cursor.advance() else {
            return Err(Problem::new(place, "these arguments have no end", "`)` ends them"));
        };
        match next {
            '"' => {
                text.push('"');
                text.push_str(cursor.eat_while(|c| c != '"' && c != '\n'));
                if !cursor.eat("\"") {
                    return Err(Problem::new(cursor.place(), "this text has no end", "`\"` ends it"));
                }
                text.push('"');
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ')' | ',' if depth == 0 => {
                let argument = std::mem::take(&mut text).trim_end().to_owned();
                if next == ',' || !argument.is_empty() || !all.is_empty() {
                    all.push(argument);
                }
                if next == ')' {
                    return Ok(all);
                }
                continue;
            }
            ']' | '}' => {
                let message = format!("`{next}` closes nothing");
                return Err(Problem::new(cursor.place(), message, "remove it, or write what it closes"));
            }
            _ => {}
        }
        text.push(next);
    }
}
