//! The files of a data folder: their names, the lock, the format, and how one comes into being.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use flyball_storage::Revision;

use crate::OpenError;
use crate::checksum::crc32c;

const LOCK: &str = "LOCK";
const FORMAT: &str = "FORMAT";
const FORMAT_TEXT: &str = "flyball-durable 1\n";

/// What an unfinished file is called until it is renamed. One that is found is of no use.
const UNFINISHED: &str = ".unfinished";

const PRIVATE_FOLDER: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// How many bytes the head of a log or snapshot takes.
pub(crate) const FILE_HEAD: usize = 20;

/// The two kinds of files that hold data. Each is named after a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What was committed after the revision.
    Log,
    /// All items at the revision.
    Snapshot,
}

impl Kind {
    fn prefix(self) -> &'static str {
        match self {
            Kind::Log => "log-",
            Kind::Snapshot => "snapshot-",
        }
    }

    fn magic(self) -> [u8; 8] {
        match self {
            Kind::Log => *b"flyb-log",
            Kind::Snapshot => *b"flyb-snp",
        }
    }

    /// The path of a file of this kind. Numbers have a fixed width, so that names sort by revision.
    pub(crate) fn path(self, folder: &Path, revision: Revision) -> PathBuf {
        folder.join(format!("{}{:020}", self.prefix(), revision.0))
    }

    fn revision(self, name: &str) -> Option<Revision> {
        let digits = name.strip_prefix(self.prefix())?;
        (digits.len() == 20).then(|| digits.parse().ok().map(Revision))?
    }

    /// The head of a file of this kind.
    pub(crate) fn head(self, revision: Revision) -> [u8; FILE_HEAD] {
        let mut head = [0; FILE_HEAD];
        head[..8].copy_from_slice(&self.magic());
        head[8..16].copy_from_slice(&revision.0.to_le_bytes());
        let checksum = crc32c(&head[..16]);
        head[16..].copy_from_slice(&checksum.to_le_bytes());
        head
    }
}

/// The revisions of the files that are there, in order.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) logs: Vec<Revision>,
    pub(crate) snapshots: Vec<Revision>,
}

/// Makes a folder for its owner only, and those above it, durably. One that exists is left as it is.
pub fn make_folder(folder: &Path) -> std::io::Result<()> {
    let above = folder.ancestors().skip(1);
    let is_named = |path: &&Path| !path.as_os_str().is_empty();
    let missing = |path: &&Path| !path.exists();
    let mut changed: Vec<&Path> = above.clone().filter(is_named).take_while(missing).collect();
    // The first that exists gets an entry, too.
    changed.extend(above.filter(is_named).find(|path| path.exists()));
    let is_new = !folder.exists();
    let mut making = DirBuilder::new();
    making.recursive(true).mode(PRIVATE_FOLDER);
    making.create(folder)?;
    if is_new {
        for folder in changed {
            sync_folder(folder)?;
        }
    }
    Ok(())
}

/// Whether a folder says which format it has: something was stored in it.
pub(crate) fn has_format(folder: &Path) -> bool {
    folder.join(FORMAT).exists()
}

/// Takes hold of a folder, which is made if it does not exist. The lock lasts as long as the file.
pub(crate) fn lock(folder: &Path) -> Result<File, OpenError> {
    make_folder(folder).map_err(OpenError::access("making", folder))?;
    refuse_foreign(folder)?;
    let path = folder.join(LOCK);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE_FILE)
        .open(&path)
        .map_err(OpenError::access("opening", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            // Who holds it is a courtesy; that it is held is known.
            let is_known = file.read_to_string(&mut pid).is_ok() && !pid.trim().is_empty();
            let holder = match is_known {
                true => format!(" (pid {})", pid.trim()),
                false => String::new(),
            };
            let folder = folder.to_owned();
            return Err(OpenError::InUse { folder, holder });
        }
        Err(TryLockError::Error(source)) => {
            return Err(OpenError::access("locking", &path)(source));
        }
    }
    let write = |file: &mut File| {
        file.set_len(0)?;
        writeln!(file, "{}", std::process::id())
    };
    write(&mut file).map_err(OpenError::access("writing", &path))?;
    Ok(file)
}

/// Refuses a folder with other files before anything is written to it.
fn refuse_foreign(folder: &Path) -> Result<(), OpenError> {
    if folder.join(LOCK).exists() || folder.join(FORMAT).exists() {
        return Ok(());
    }
    let reading = || OpenError::access("reading", folder);
    let Some(entry) = fs::read_dir(folder).map_err(reading())?.next() else {
        return Ok(());
    };
    let example = entry.map_err(reading())?.file_name();
    Err(OpenError::NotADataFolder {
        folder: folder.to_owned(),
        example: example.to_string_lossy().into_owned(),
    })
}

/// Checks that a folder that is held has the format of this program, or is empty and gets it.
/// Removes what was never finished, and says what is there.
pub(crate) fn survey(folder: &Path) -> Result<Found, OpenError> {
    let path = folder.join(FORMAT);
    let mut found = Found::default();
    let mut other = None;
    let reading = || OpenError::access("reading", folder);
    let entries = fs::read_dir(folder).map_err(reading())?;
    for entry in entries {
        let name = entry.map_err(reading())?.file_name();
        let name = name.to_string_lossy().into_owned();
        if name == LOCK || name == FORMAT {
            continue;
        }
        if name.ends_with(UNFINISHED) {
            let path = folder.join(&name);
            fs::remove_file(&path).map_err(OpenError::access("removing", &path))?;
        } else if let Some(revision) = Kind::Log.revision(&name) {
            found.logs.push(revision);
        } else if let Some(revision) = Kind::Snapshot.revision(&name) {
            found.snapshots.push(revision);
        } else {
            other = Some(name);
        }
    }
    found.logs.sort_unstable();
    found.snapshots.sort_unstable();
    match fs::read(&path) {
        Ok(text) if text == FORMAT_TEXT.as_bytes() => Ok(found),
        Ok(text) => {
            let found = String::from_utf8_lossy(&text);
            Err(OpenError::FormatUnknown {
                path,
                found: found.trim_end().chars().take(100).collect(),
                understood: FORMAT_TEXT.trim_end(),
            })
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let logs = found.logs.first().map(|log| Kind::Log.path(folder, *log));
            let snapshots = found.snapshots.first();
            let snapshots = snapshots.map(|snapshot| Kind::Snapshot.path(folder, *snapshot));
            let data = logs.or(snapshots).map(|path| path.display().to_string());
            if let Some(example) = data.or(other) {
                let folder = folder.to_owned();
                return Err(OpenError::NotADataFolder { folder, example });
            }
            create(&path, FORMAT_TEXT.as_bytes()).map_err(OpenError::access("writing", &path))?;
            Ok(found)
        }
        Err(source) => Err(OpenError::access("reading", &path)(source)),
    }
}

/// Writes a file for its owner only that is there as a whole, durably, or as it was before.
pub fn write_file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    create(path, content).map(drop)
}

/// Makes a file that is there as a whole, durably, or not at all.
pub(crate) fn create(path: &Path, content: &[u8]) -> std::io::Result<File> {
    let mut file = begin(path)?;
    file.write_all(content)?;
    publish(&file, path)?;
    Ok(file)
}

/// Begins a file under the name of an unfinished one. What is stored may be secret, so it is for
/// the user's eyes only.
pub(crate) fn begin(path: &Path) -> std::io::Result<File> {
    File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(PRIVATE_FILE)
        .open(unfinished(path))
}

/// What a file is called until it is finished.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

/// Gives a finished file its name, durably.
pub(crate) fn publish(file: &File, path: &Path) -> std::io::Result<()> {
    file.sync_all()?;
    fs::rename(unfinished(path), path)?;
    match path.parent() {
        Some(folder) => sync_folder(folder),
        None => Ok(()),
    }
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}
