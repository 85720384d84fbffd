//! Folders: which files of one are sent, in which order, and where a receiver puts them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{TransferError, check_name, check_outermost_name};

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
    /// Entries that are not sent, each with the reason: links, devices, and names that a receiver refuses
    /// ([`check_name`]).
    pub skipped: Vec<String>,
}

impl FolderFiles {
    /// Lists the files of `folder` and of the folders in it, under `name`. Symbolic links are not followed.
    ///
    /// # Errors
    ///
    /// A folder or a file cannot be read, folders are nested too deeply, the name is not one of a folder, or there is
    /// no file.
    pub fn list(folder: &Path, name: &str) -> Result<Self, TransferError> {
        check_outermost_name(name)
            .map_err(|why| TransferError::Refused(format!("a folder called {name:?}: {why}")))?;
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

/// Where a receiver has put the files of one transfer. Two names never become one there: file systems that do not
/// distinguish case, or composed and decomposed letters, would merge folders and replace files.
#[derive(Debug, Default)]
pub struct Placed {
    /// Device and number of each folder and file, and a hash of its path in the transfer.
    taken: BTreeMap<(u64, u64), u64>,
    /// The last file, which has its number when it is complete.
    last: Option<(PathBuf, u64)>,
}

impl Placed {
    /// Makes the folders of a proposal in `into`, where they are missing, and returns the innermost, for the file
    /// `name`. The names are valid ([`check_name`]).
    ///
    /// # Errors
    ///
    /// A folder exists and is no folder, such as a symbolic link, or cannot be made; or the file system takes one of
    /// the names for the name of another folder or file of this transfer.
    pub fn enter(&mut self, into: &Path, folders: &[String], name: &str) -> Result<PathBuf, TransferError> {
        if let Some((file, sent_as)) = self.last.take()
            && let Ok(found) = fs::symlink_metadata(&file)
        {
            self.taken.insert(number(&found), sent_as);
        }
        let mut path = into.to_owned();
        let mut sent_as = blake3::Hasher::new();
        for folder in folders {
            path.push(folder);
            sent_as.update(folder.as_bytes()).update(b"/");
            match fs::create_dir(&path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(TransferError::at(&path)(error));
                }
                _ => {}
            }
            // of the entry itself: a link may lead elsewhere
            let found = fs::symlink_metadata(&path).map_err(TransferError::at(&path))?;
            if !found.is_dir() {
                let message = format!("{} is there already, and no folder", path.display());
                return Err(TransferError::Refused(message));
            }
            self.check(&found, short(&sent_as), &path)?;
            self.taken.insert(number(&found), short(&sent_as));
        }
        let file = path.join(name);
        let sent_as = short(sent_as.update(name.as_bytes()));
        if let Ok(found) = fs::symlink_metadata(&file) {
            self.check(&found, sent_as, &file)?;
        }
        self.last = Some((file, sent_as));
        Ok(path)
    }

    fn check(&self, found: &fs::Metadata, sent_as: u64, path: &Path) -> Result<(), TransferError> {
        if self.taken.get(&number(found)).is_none_or(|earlier| *earlier == sent_as) {
            return Ok(());
        }
        Err(TransferError::Refused(format!(
            "{}: the file system does not distinguish this name from another one of the folder",
            path.display()
        )))
    }
}

/// What distinguishes a file from every other.
fn number(of: &fs::Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

fn short(hash: &blake3::Hasher) -> u64 {
    let mut bytes = [0; 8];
    hash.finalize_xof().fill(&mut bytes);
    u64::from_be_bytes(bytes)
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
        for (name, content) in [("b.txt", "bb"), ("a/z/deep.txt", ""), ("a/c.txt", "ccc"), ("c:d", "x")] {
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
        let [colon, link] = &listed.skipped[..] else { panic!("{:?}", listed.skipped) };
        assert!(colon.contains("c:d: it contains"), "{colon}");
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
        let mut placed = Placed::default();
        let produced = placed.enter(&scratch.0, &folders, "x").expect("there is room");
        assert_eq!((produced.clone(), produced.is_dir()), (scratch.0.join("film/a"), true));
        assert_eq!(placed.enter(&scratch.0, &folders, "y").expect("they exist"), produced);
        symlink("/tmp", scratch.0.join("elsewhere")).expect("a link for a test");
        let refused = placed.enter(&scratch.0, &["elsewhere".to_owned()], "x").expect_err("it is a link");
        assert!(refused.to_string().ends_with("elsewhere is there already, and no folder"), "{refused}");
    }

    /// A second name of a file, as of a file system that does not distinguish case.
    #[test]
    fn a_file_system_that_takes_two_names_for_one_is_noticed() {
        let scratch = Scratch::new("twins");
        let folders = ["film".to_owned()];
        let mut placed = Placed::default();
        let path = placed.enter(&scratch.0, &folders, "README").expect("there is room");
        scratch.file("film/README", "one");
        fs::hard_link(path.join("README"), path.join("readme")).expect("a link for a test");
        let refused = placed.enter(&scratch.0, &folders, "readme").expect_err("it is the same file");
        assert!(refused.to_string().contains("film/readme: the file system does not"), "{refused}");
        // the same file again, after an interruption
        placed.enter(&scratch.0, &folders, "README").expect("it is the same one");
        Placed::default().enter(&scratch.0, &folders, "readme").expect("a file from before the transfer");
    }
}
