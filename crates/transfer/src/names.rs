//! Validation of file names that the other end proposes.

/// Why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It is empty or too long.
    #[error("it is empty, or has more than 200 bytes")]
    Length,
    /// It could lead to another folder.
    #[error("it contains /, \\ or a colon, which separate the parts of a path")]
    Path,
    /// It starts like a hidden file or an option.
    #[error("it begins with a dot or a dash")]
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

/// Whether a file may have this name: one visible component.
pub fn check_name(name: &str) -> Result<(), BadName> {
    if name.trim().is_empty() || name.len() > LONGEST {
        return Err(BadName::Length);
    }
    if name.contains(['/', '\\', ':']) {
        return Err(BadName::Path);
    }
    if name.starts_with(['.', '-', '~']) {
        return Err(BadName::Beginning);
    }
    if name.chars().any(wire::is_control) {
        return Err(BadName::Letters);
    }
    if name.ends_with(PART) || name.ends_with(STATE) {
        return Err(BadName::Ending);
    }
    Ok(())
}

/// Maximum length, so that it fits with suffixes into the 255 bytes of file systems.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_of_all_scripts_are_taken() {
        for name in ["a", "film.mkv", "Übersicht 2026.pdf", "数据.tar.gz", "a b", "x..y", "x.thalweg"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_or_deceive_are_refused() {
        let cases = [
            ("", BadName::Length),
            ("  ", BadName::Length),
            ("..", BadName::Beginning),
            (".", BadName::Beginning),
            ("../x", BadName::Path),
            ("/etc/passwd", BadName::Path),
            ("a/b", BadName::Path),
            ("a\\b", BadName::Path),
            ("c:x", BadName::Path),
            (".bashrc", BadName::Beginning),
            ("-rf", BadName::Beginning),
            ("a\0b", BadName::Letters),
            ("a\nb", BadName::Letters),
            ("a\u{1b}[2J", BadName::Letters),
            ("invoice\u{202e}fdp.exe", BadName::Letters),
            ("x.thalweg-part", BadName::Ending),
            ("x.thalweg-state", BadName::Ending),
        ];
        for (name, why) in cases {
            assert_eq!(check_name(name), Err(why), "{name:?}");
        }
        assert_eq!(check_name(&"x".repeat(201)), Err(BadName::Length));
    }
}
