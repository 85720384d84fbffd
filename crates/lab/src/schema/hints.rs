//! Hints for unknown words: the nearest known one, or all known ones.

/// At most forty characters of a text.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
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
    if let Some(near) = nearest(word, known.clone()) {
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
    }
}
