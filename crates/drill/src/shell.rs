//! The shell commands of a script: those that set something are read, none is executed.

use contract::ParamValue;

use crate::place::Place;
use crate::problem::Problem;
use crate::script::Shell;
use crate::settings::{Refusal, Settings};

/// A command with its words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    place: Place,
    words: Vec<String>,
}

/// Why commands are not followed.
pub(crate) enum Unfollowed {
    /// They are wrong, or name a setting that is unknown.
    Wrong(Problem),
    /// They cannot be expressed: place and feature.
    Beyond(Place, String),
}

/// Follows the commands of a script: changes the settings.
pub(crate) fn follow(shell: &Shell, settings: &mut Settings) -> Result<(), Unfollowed> {
    commands(shell).iter().try_for_each(|command| follow_one(command, settings))
}

fn follow_one(Command { place, words }: &Command, settings: &mut Settings) -> Result<(), Unfollowed> {
    let name = words[0].rsplit('/').next().unwrap_or("");
    let rest: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let beyond = |feature: String| Err(Unfollowed::Beyond(*place, feature));
    match name {
        "defaults.sh" => settings.set_defaults(),
        "sysctl" | "set_sysctls.py" | "x" => {
            for word in rest.iter().filter(|word| !word.starts_with('-') && !is_redirection(word)) {
                let Some((name, value)) = word.split_once('=') else {
                    return Err(Unfollowed::Wrong(Problem::new(
                        *place,
                        format!("`{word}` sets nothing"),
                        "such as `sysctl -q net.ipv4.tcp_congestion_control=reno`",
                    )));
                };
                settings.set(name, value).map_err(|refusal| match refusal {
                    Refusal::Unknown(hint) => Unfollowed::Wrong(Problem::new(
                        *place,
                        format!("the setting `{name}` is unknown"),
                        hint,
                    )),
                    Refusal::Wrong(hint) => {
                        let message = format!("`{value}` is no value of `{name}`");
                        Unfollowed::Wrong(Problem::new(*place, message, hint))
                    }
                    Refusal::Beyond(feature) => Unfollowed::Beyond(*place, feature),
                })?;
            }
        }
        "tc" => {
            match rest.iter().find(|word| ["fq", "pfifo", "fq_codel", "pfifo_fast", "noqueue"].contains(word))
            {
                Some(&kind) if !rest.contains(&"limit") => settings.set_pacing(kind == "fq"),
                _ => return beyond(format!("the queue of `{}`", words.join(" "))),
            }
        }
        "echo" => match (rest.first(), rest.last().and_then(|path| path.rsplit('/').next())) {
            (Some(&value), Some("hystart_detect" | "hystart")) => match value {
                "0" => settings.add_param("hystart", ParamValue::Text("off".to_owned())),
                "3" | "1" => {}
                _ => return beyond(format!("`hystart_detect` of {value}")),
            },
            _ => return beyond(format!("the command `{}`", words.join(" "))),
        },
        // what has no effect on congestion control here
        "ethtool" | "true" => {}
        "ip" if rest.first() == Some(&"tcp_metrics") => {}
        "ip" if rest.ends_with(&["gso_max_segs", "1"]) => settings.without_gso(),
        _ if name.starts_with("sysctl_restore") => {}
        _ => return beyond(format!("the command `{}`", words.join(" "))),
    }
    Ok(())
}

/// Whether a word redirects output.
fn is_redirection(word: &str) -> bool {
    word.contains('>') || word == "/dev/null"
}

/// The commands of a text.
pub(crate) fn commands(shell: &Shell) -> Vec<Command> {
    let mut all = Vec::new();
    let mut place = shell.place;
    let mut command = Command { place, words: Vec::new() };
    let mut word: Option<String> = None;
    let mut letters = shell.text.chars().peekable();
    let mut quote = None;
    // depth of `$( … )`
    let mut depth = 0usize;
    while let Some(c) = letters.next() {
        let here = place;
        if c == '\n' {
            place = Place { line: place.line + 1, column: 1 };
        } else {
            place.column += 1;
        }
        if command.words.is_empty() && word.is_none() {
            command.place = here;
        }
        match c {
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(c),
            '"' | '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            '\\' if letters.peek() == Some(&'\n') => {
                letters.next();
                place = Place { line: place.line + 1, column: 1 };
                command.words.extend(word.take());
            }
            '(' if word.as_ref().is_some_and(|word| word.ends_with('$')) || depth > 0 => {
                depth += 1;
                word.get_or_insert_default().push(c);
            }
            ')' if depth > 0 => {
                depth -= 1;
                word.get_or_insert_default().push(c);
            }
            _ if depth > 0 => word.get_or_insert_default().push(c),
            '#' if word.is_none() => {
                while letters.peek().is_some_and(|c| *c != '\n') {
                    letters.next();
                    place.column += 1;
                }
            }
            '\n' | ';' | '&' | '|' => {
                command.words.extend(word.take());
                if !command.words.is_empty() {
                    all.push(std::mem::replace(&mut command, Command { place, words: Vec::new() }));
                }
            }
            _ if c.is_whitespace() => command.words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    command.words.extend(word);
    if !command.words.is_empty() {
        all.push(command);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        let text =
            "../a/defaults.sh # all\nsysctl -q a=\"1 2  3\" \\\n  b=$((15*1024)); true && x c=1".to_owned();
        let all = commands(&Shell { place: Place { line: 3, column: 2 }, text });
        let words: Vec<Vec<&str>> =
            all.iter().map(|command| command.words.iter().map(String::as_str).collect()).collect();
        let expected: [&[&str]; 4] = [
            &["../a/defaults.sh"],
            &["sysctl", "-q", "a=1 2  3", "b=$((15*1024))"],
            &["true"],
            &["x", "c=1"],
        ];
        assert_eq!(words, expected);
        assert_eq!(all[1].place, Place { line: 4, column: 1 });
        assert_eq!(all[2].place.line, 5);
    }
}
