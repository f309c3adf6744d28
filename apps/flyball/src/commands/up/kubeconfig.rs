//! The file that tells kubectl where the plane is and who may use it.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use flyball::Plane;

use super::flags::Flags;

/// The first line of what is written here, by which it is known again.
const MARK: &str = "# Written by flyball up, which replaces it at each start.\n";

/// A kubeconfig that was written.
pub(super) struct Kubeconfig {
    path: PathBuf,
    /// The folder that is removed with it after the stop, because it leads nowhere any more.
    passing: Option<PathBuf>,
}

impl Kubeconfig {
    /// Writes the plane's kubeconfig where it was asked for, else into the data folder.
    pub(super) fn write(flags: &Flags, plane: &Plane) -> anyhow::Result<Self> {
        let (path, passing) = match (&flags.kubeconfig, &flags.data) {
            (Some(path), _) => (path.clone(), None),
            (None, Some(folder)) => (folder.join("kubeconfig"), None),
            (None, None) => {
                let folder = private_folder()?;
                (folder.join("kubeconfig"), Some(folder))
            }
        };
        let text = plane.kubeconfig()?.context("the plane does not listen")?;
        put(&path, &format!("{MARK}{text}"))?;
        Ok(Self { path, passing })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away, if it leads nowhere any more.
    pub(super) fn forget(&self) {
        if let Some(folder) = &self.passing
            && let Err(error) = fs::remove_file(&self.path).and_then(|()| fs::remove_dir(folder))
        {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the kubeconfig");
        }
    }
}

/// A new folder for this user only. The temporary folder belongs to all users: what is there under a
/// name that can be guessed may be another user's.
fn private_folder() -> anyhow::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("flyball-{}", uuid::Uuid::new_v4()));
    let made = fs::DirBuilder::new().mode(0o700).create(&folder);
    made.with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(folder)
}

/// Puts a file in place as a whole, readable for its owner only: it holds a key.
fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    let failed = || format!("cannot write the kubeconfig {}", path.display());
    match fs::read_to_string(path) {
        Ok(there) if !there.starts_with(MARK) && !there.trim().is_empty() => bail!(
            "{} exists and was not written by flyball, so it is left as it is; name another file with --kubeconfig",
            path.display()
        ),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => bail!(
            "{} exists and is no kubeconfig; name another file with --kubeconfig",
            path.display()
        ),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(failed);
        }
        _ => {}
    }
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", uuid::Uuid::new_v4()));
    let beside = PathBuf::from(beside);
    let written = write_private(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What could not be put in place is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(failed)
}

/// Writes a new file; one that is there already, or a link, may be another user's.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_replaces_its_own_file_and_no_other() {
        let name = format!("flyball-put-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let path = folder.join("deep/kubeconfig");
        put(&path, &format!("{MARK}one")).unwrap();
        put(&path, &format!("{MARK}two")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{MARK}two"));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        fs::write(&path, "apiVersion: v1\nkind: Config\n").unwrap();
        let refused = put(&path, "other").unwrap_err().to_string();
        assert!(refused.contains("was not written by flyball"), "{refused}");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);

        let refused = put(&folder.join("deep"), "other").unwrap_err();
        assert!(format!("{refused:#}").contains("cannot write the kubeconfig"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
