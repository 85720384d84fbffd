//! Hints for unknown words: the nearest known one, or all known ones.

/// At most forty characters of a text.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text with its invisible characters as escapes, such as `\u{feff}`: they are what is wrong in it.
pub(crate) fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || (c.is_whitespace() && c != ' ')
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut seen, c| {
        match c {
            _ if !hidden(c) => seen.push(c),
            '\0' => seen.push_str("\\0"),
            _ => seen.extend(c.escape_default()),
        }
        seen
    })
}

/// What to write instead of a number with commas; `None` for one without.
pub(crate) fn comma_hint(written: &str) -> Option<String> {
    let digits = written.replace(',', "");
    let groups: Vec<&str> = written.split(',').collect();
    let is_digits = |group: &str| group.bytes().all(|c| c.is_ascii_digit());
    let grouped = (1..=3).contains(&groups[0].len())
        && groups.iter().all(|group| is_digits(group))
        && groups[1..].iter().all(|group| group.len() == 3);
    match groups.len() {
        1 => None,
        2 if grouped => Some(format!(
            "write {digits} if the comma separates thousands, or {} if it begins the fraction",
            written.replace(',', ".")
        )),
        _ if grouped => Some(format!("write {digits}, without separators of thousands")),
        _ => Some("write a decimal point instead of a comma".to_owned()),
    }
}

/// A hint for a decimal comma in the number that a quantity begins with, such as `10,5 Mbit/s`.
pub(crate) fn comma_in_quantity(written: &str) -> Option<String> {
    let end = written.trim().find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.')));
    comma_hint(&written.trim()[..end.unwrap_or(written.trim().len())])
}

/// The number that a text most likely means: 0.7 of `0.7`, 0.01 of `1%`, `1 percent` and `1/100`.
pub(crate) fn meant_number(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let percent = ["%", "percent", "per cent", "pct"].into_iter().find_map(|end| text.strip_suffix(end));
    let number = match (percent, text.split_once('/')) {
        // as decimal text, so that 0.1 % is exactly 0.001
        (Some(percent), _) => format!("{}e-2", percent.trim_end()).parse().ok()?,
        (None, Some((above, below))) => {
            above.trim().parse::<f64>().ok()? / below.trim().parse::<f64>().ok()?
        }
        (None, None) => text.parse::<f64>().ok()?,
    };
    number.is_finite().then_some(number)
}

/// The switch that a text most likely means: true of `yes`.
pub(crate) fn meant_switch(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// The nearest of `known` to `word`, when one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // half of a word of four letters is another word: `hits` is not `pit`
    let far = match word.chars().count() {
        0..=4 => 1,
        length => length / 3 + 1,
    };
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= far && *distance < candidate.chars().count())
        // of two that are as near, the one that begins as it does: `flow` is `flows`, not `slow`
        .min_by_key(|(distance, candidate)| (*distance, word.chars().next() != candidate.chars().next()))
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or else the words there are, when they are not too many.
pub(crate) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    // `tcp_reno` and `TcpCubic` are names of other programs
    let lower = word.to_lowercase();
    let between = |c: char| matches!(c, '_' | '-' | ' ');
    let bare = lower.strip_prefix("tcp").or_else(|| lower.strip_suffix("tcp")).unwrap_or_default();
    let bare = bare.trim_matches(between);
    let same = known.clone().into_iter().find(|known| *known == bare);
    if let Some(near) = same.or_else(|| nearest(word, known.clone())).or_else(|| nearest(bare, known.clone()))
    {
        return Some(format!("did you mean `{near}`?"));
    }
    let all: Vec<&str> = known.into_iter().collect();
    match all.len() {
        0 => None,
        1..=24 => Some(format!("known: {}", all.join(", "))),
        many => Some(format!("known: {}, … ({many} in all)", all[..12].join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_near_where_a_typo_explains_the_difference() {
        for (word, known, near) in [
            ("cubbic", "cubic", true),
            ("rneo", "reno", true),
            ("bottlenek", "bottleneck", true),
            ("hits", "pit", false),
            ("abc", "xyz", false),
        ] {
            assert_eq!(nearest(word, [known]).is_some(), near, "{word} {known}");
        }
        assert_eq!(nearest("flow", ["slow", "flows"]), Some("flows"));
        for word in ["tcp_reno", "TCP-Reno", "TcpReno", "reno_tcp", "tcp reno", "tcp_rneo"] {
            assert_eq!(
                suggestion(word, ["reno", "cubic"]).as_deref(),
                Some("did you mean `reno`?"),
                "{word}"
            );
        }
        assert_eq!(suggestion("tcp_bbr", ["tcp_lp", "bbr"]).as_deref(), Some("did you mean `bbr`?"));
        assert_eq!(suggestion("tcp_pl", ["tcp_lp", "bbr"]).as_deref(), Some("did you mean `tcp_lp`?"));
        assert_eq!(suggestion("tcp", ["reno", "cubic"]).as_deref(), Some("known: reno, cubic"));
    }

    #[test]
    fn invisible_characters_are_shown() {
        assert_eq!(visible("\u{feff}1\r2\0\u{a0}3\t\u{200b}µ … é"), r"\u{feff}1\r2\0\u{a0}3\t\u{200b}µ … é");
    }

    #[test]
    fn a_number_with_commas_gets_what_is_meant() {
        for (written, words) in [
            ("1,000,000", Some("write 1000000,")),
            ("1,000", Some("1000 if the comma separates thousands, or 1.000")),
            ("0,5", Some("decimal point")),
            ("10,5 kB", Some("decimal point")),
            ("1000", None),
        ] {
            let hint = comma_hint(written);
            assert_eq!(hint.is_some(), words.is_some(), "{written}");
            assert!(words.is_none_or(|words| hint.is_some_and(|hint| hint.contains(words))), "{written}");
        }
    }
}
