//! Validation of file names that the other end proposes.

/// Why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It is empty or too long.
    #[error("it is empty, or has more than 255 bytes")]
    Length,
    /// It could lead to another folder, on this system or another.
    #[error("it contains /, \\ or a colon, which separate the parts of a path")]
    Path,
    /// It is the folder itself or the one above.
    #[error("it is . or .., which lead to another folder")]
    Relative,
    /// It starts like a hidden file, an option or a home.
    #[error("it begins with a dot, a dash or a tilde; `--name` sets another name")]
    Beginning,
    /// It has control characters or invisible ones.
    #[error("it contains invisible characters")]
    Letters,
    /// It has the suffix of incomplete files.
    #[error("it has the suffix of an incomplete transfer")]
    Ending,
}

/// Suffix of an incomplete file.
pub(crate) const PART: &str = ".thalweg-part";
/// Suffix of the list of its blocks.
pub(crate) const STATE: &str = ".thalweg-state";

/// Whether a file or folder of a transfer may have this name: one component of a path, without invisible characters.
pub fn check_name(name: &str) -> Result<(), BadName> {
    if name.trim().is_empty() || name.len() > MAX_BYTES {
        return Err(BadName::Length);
    }
    if name.contains(['/', '\\', ':']) {
        return Err(BadName::Path);
    }
    if name == "." || name == ".." {
        return Err(BadName::Relative);
    }
    if name.chars().any(wire::is_control) {
        return Err(BadName::Letters);
    }
    if name.ends_with(PART) || name.ends_with(STATE) {
        return Err(BadName::Ending);
    }
    Ok(())
}

/// Whether the file or the folder that is sent may have this name. It is created in the receiver's folder, beside other
/// files, so that it must also not be hidden, nor be taken for an option. Within a folder such names are usual.
pub fn check_outermost_name(name: &str) -> Result<(), BadName> {
    check_name(name)?;
    if name.starts_with(['.', '-', '~']) { Err(BadName::Beginning) } else { Ok(()) }
}

/// The name of an incomplete file, or of the list of its blocks. Where it would be too long, a hash of the name
/// replaces its end.
pub(crate) fn with_suffix(name: &str, suffix: &str) -> String {
    if name.len() + suffix.len() <= MAX_BYTES {
        return format!("{name}{suffix}");
    }
    let hash = blake3::hash(name.as_bytes()).to_hex();
    let hash = &hash[..HASH_DIGITS];
    let room = MAX_BYTES - HASH_DIGITS - suffix.len();
    let end = (0..=room).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{hash}{suffix}", &name[..end])
}

/// Maximum length of a name in bytes, as in most file systems.
pub const MAX_BYTES: usize = 255;
/// Digits of a hash in a name.
const HASH_DIGITS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_of_all_scripts_are_taken() {
        for name in ["a", "film.mkv", "Übersicht 2026.pdf", "数据.tar.gz", "a b", "x..y", "x.thalweg"] {
            assert_eq!(check_outermost_name(name), Ok(()), "{name}");
        }
        let longest = "x".repeat(255);
        assert_eq!(check_outermost_name(&longest), Ok(()));
    }

    #[test]
    fn names_that_begin_like_options_or_hidden_files_are_taken_within_a_folder_only() {
        for name in [".gitignore", "...", "-rf", "--help", "~", "~backup"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
            assert_eq!(check_outermost_name(name), Err(BadName::Beginning), "{name}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_or_deceive_are_refused() {
        let cases = [
            ("", BadName::Length),
            ("  ", BadName::Length),
            ("..", BadName::Relative),
            (".", BadName::Relative),
            ("../x", BadName::Path),
            ("/etc/passwd", BadName::Path),
            ("a/b", BadName::Path),
            ("a\\b", BadName::Path),
            ("c:x", BadName::Path),
            ("a\0b", BadName::Letters),
            ("a\nb", BadName::Letters),
            ("a\u{1b}[2J", BadName::Letters),
            ("invoice\u{202e}fdp.exe", BadName::Letters),
            ("x.thalweg-part", BadName::Ending),
            ("x.thalweg-state", BadName::Ending),
        ];
        for (name, why) in cases {
            assert_eq!(check_name(name), Err(why), "{name:?}");
            assert_eq!(check_outermost_name(name), Err(why), "{name:?}");
        }
        assert_eq!(check_name(&"x".repeat(256)), Err(BadName::Length));
        assert_eq!(check_name(&"ö".repeat(128)), Err(BadName::Length));
    }

    proptest::proptest! {
        #[test]
        fn incomplete_files_of_two_names_are_two_and_fit(common in "[aöё数]{0,130}", ends in proptest::array::uniform2("[a-dö]{0,4}")) {
            let names = ends.map(|end| format!("{common}{end}"));
            let [one, other] = names.each_ref().map(|name| with_suffix(name, STATE));
            if names.iter().all(|name| check_name(name).is_ok()) {
                proptest::prop_assert!(one.len() <= MAX_BYTES && one.ends_with(STATE));
                proptest::prop_assert_eq!(one == other, names[0] == names[1]);
                proptest::prop_assert_eq!(check_name(&one), Err(BadName::Ending));
            }
        }
    }
}
