//! Folders: which files of one are sent, in which order, and where a receiver puts them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{TransferError, check_name};

/// Maximum number of folders above a file, with the one that is sent.
const MAX_DEPTH: usize = 32;

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFile {
    /// Where it is.
    pub path: PathBuf,
    /// The folders above it, from the one that is sent.
    pub folders: Vec<String>,
    /// Its name.
    pub name: String,
    /// Its length in bytes when the folder was listed.
    pub bytes: u64,
}

/// The files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderFiles {
    /// In the order of their paths, compared by bytes.
    pub files: Vec<FolderFile>,
    /// Entries that are not sent, each with the reason: links, devices, and names that a receiver refuses, such as hidden ones.
    pub skipped: Vec<String>,
}

impl FolderFiles {
    /// Lists the files of `folder` and of the folders in it, under `name`. Symbolic links are not followed.
    ///
    /// # Errors
    ///
    /// A folder or a file cannot be read, folders are nested too deeply, the name is not one of a folder, or there is no file.
    pub fn list(folder: &Path, name: &str) -> Result<Self, TransferError> {
        check_name(name).map_err(|why| TransferError::Refused(format!("a folder called {name:?}: {why}")))?;
        let mut listed = Self::default();
        listed.walk(folder, &[name.to_owned()])?;
        if listed.files.is_empty() {
            return Err(TransferError::Refused(format!("{}: there is no file in it", folder.display())));
        }
        Ok(listed)
    }

    /// The sum of their lengths.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    fn walk(&mut self, folder: &Path, folders: &[String]) -> Result<(), TransferError> {
        if folders.len() > MAX_DEPTH {
            let message = format!("{}: more than {MAX_DEPTH} folders within each other", folder.display());
            return Err(TransferError::Refused(message));
        }
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut entries = entries.map_err(TransferError::at(folder))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let skip = |why: &str| format!("{}: {why}", path.display());
            let name = match entry.file_name().into_string() {
                Ok(name) => name,
                Err(_) => {
                    self.skipped.push(skip("its name is not UTF-8"));
                    continue;
                }
            };
            if let Err(why) = check_name(&name) {
                self.skipped.push(skip(&why.to_string()));
                continue;
            }
            let kind = entry.metadata().map_err(TransferError::at(&path))?;
            if kind.is_dir() {
                self.walk(&path, &[folders, &[name]].concat())?;
            } else if kind.is_file() {
                // one that cannot be read is an error before anything is sent
                fs::File::open(&path).map_err(TransferError::at(&path))?;
                self.files.push(FolderFile { path, folders: folders.to_vec(), name, bytes: kind.len() });
            } else {
                self.skipped.push(skip("neither a file nor a folder"));
            }
        }
        Ok(())
    }
}

/// Makes the folders of a proposal in `path`, where they are missing, and returns the innermost. Their names are valid ([`check_name`]).
///
/// # Errors
///
/// One of them exists and is no folder, such as a symbolic link, or cannot be made.
pub fn make_folders(path: &Path, folders: &[String]) -> Result<PathBuf, TransferError> {
    let mut path = path.to_owned();
    for folder in folders {
        path.push(folder);
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // of the entry itself: a link may lead elsewhere
                let found = fs::symlink_metadata(&path).map_err(TransferError::at(&path))?;
                if !found.is_dir() {
                    return Err(TransferError::Refused(format!(
                        "{} is there already, and no folder",
                        path.display()
                    )));
                }
            }
            produced => produced.map_err(TransferError::at(&path))?,
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder for a test, removed at its end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("thalweg-folder-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a folder for a test");
            Self(path)
        }

        fn file(&self, name: &str, content: &str) {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder for a test");
            fs::write(path, content).expect("a file for a test");
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_are_listed_in_order_and_the_rest_with_its_reason() {
        let scratch = Scratch::new("list");
        for (name, content) in [("b.txt", "bb"), ("a/z/deep.txt", ""), ("a/c.txt", "ccc"), (".hidden/x", "x")]
        {
            scratch.file(name, content);
        }
        symlink("/etc/passwd", scratch.0.join("link")).expect("a link for a test");
        let listed = FolderFiles::list(&scratch.0, "film").expect("it can be read");
        let files: Vec<_> = listed
            .files
            .iter()
            .map(|file| (file.folders.join("/"), file.name.as_str(), file.bytes))
            .collect();
        let expected = [("film/a", "c.txt", 3), ("film/a/z", "deep.txt", 0), ("film", "b.txt", 2)];
        assert_eq!(files, expected.map(|(folders, name, bytes)| (folders.to_owned(), name, bytes)));
        assert_eq!(listed.bytes(), 5);
        let [hidden, link] = &listed.skipped[..] else { panic!("{:?}", listed.skipped) };
        assert!(hidden.contains(".hidden: "), "{hidden}");
        assert!(link.ends_with("link: neither a file nor a folder"), "{link}");
    }

    #[test]
    fn a_folder_without_files_and_one_that_is_too_deep_are_refused() {
        let scratch = Scratch::new("deep");
        let refused = |scratch: &Scratch, name| {
            FolderFiles::list(&scratch.0, name).expect_err("it is refused").to_string()
        };
        assert!(refused(&scratch, "film").ends_with("there is no file in it"));
        assert!(refused(&scratch, "..").starts_with("a folder called \"..\""));
        scratch.file(&format!("{}x", "d/".repeat(MAX_DEPTH)), "x");
        assert!(refused(&scratch, "film").ends_with("more than 32 folders within each other"));
    }

    #[test]
    fn folders_are_made_and_links_in_their_place_are_not_followed() {
        let scratch = Scratch::new("make");
        let folders = ["film".to_owned(), "a".to_owned()];
        let produced = make_folders(&scratch.0, &folders).expect("there is room");
        assert_eq!((produced.clone(), produced.is_dir()), (scratch.0.join("film/a"), true));
        assert_eq!(make_folders(&scratch.0, &folders).expect("they exist"), produced);
        symlink("/tmp", scratch.0.join("elsewhere")).expect("a link for a test");
        let refused =
            make_folders(&scratch.0, &["elsewhere".to_owned()]).expect_err("it is a link").to_string();
        assert!(refused.ends_with("elsewhere is there already, and no folder"), "{refused}");
    }
}
