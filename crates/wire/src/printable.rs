//! Text from a network, made safe for terminals and logs.
//!
//! All text from another host (a sentence, a name, a reason) passes [`printable`] before it is shown. A terminal
//! executes control characters (ECMA-48), and marks of writing direction make a text look like another (Unicode TR 36).

/// Whether a terminal interprets this character instead of showing it, or it changes how its neighbours look: C0, DEL,
/// C1, line and paragraph separators, marks of writing direction, characters without width, and tags.
pub const fn is_control(letter: char) -> bool {
    matches!(letter,
        '\0'..='\x1f'
        | '\x7f'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The text with control characters replaced by escapes: `\x1b`, `\u{202e}`. Backslashes are not escaped, because the
/// text is only shown.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            letter if !is_control(letter) => shown.push(letter),
            letter if letter.is_ascii() => shown.push_str(&format!("\\x{:02x}", letter as u32)),
            letter => shown.extend(letter.escape_unicode()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_escaped_and_all_else_stays() {
        for (text, shown) in [
            ("größe.bin 数据 \\ 😀", "größe.bin 数据 \\ 😀"),
            ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
            ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
            ("a\nerror: b\r\t\0\x7f", "a\\nerror: b\\r\\t\\x00\\x7f"),
            ("\u{9b}31m\u{9d}0;x\u{9c}", "\\u{9b}31m\\u{9d}0;x\\u{9c}"),
            ("invoice\u{202e}fdp.exe", "invoice\\u{202e}fdp.exe"),
            ("a\u{2028}b\u{200b}c\u{feff}\u{e0041}", "a\\u{2028}b\\u{200b}c\\u{feff}\\u{e0041}"),
        ] {
            assert_eq!(printable(text), shown, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_is_obeyed_is_left(text in ".*") {
            proptest::prop_assert!(!printable(&text).chars().any(is_control));
            proptest::prop_assert!(!printable(&text).chars().any(char::is_control));
        }
    }
}
