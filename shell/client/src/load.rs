//! Where the server is and who we are to it: kubeconfig, in-cluster, `--master`.

use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

/// Where to look for the connection's settings.
#[derive(Clone, Debug, Default)]
pub struct ConfigSource {
    /// A kubeconfig file.
    pub kubeconfig: Option<PathBuf>,
    /// The server's address; overrides the kubeconfig's.
    pub master: Option<String>,
}

/// The connection's settings could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is missing or unreadable.
    #[error(
        "cannot read kubeconfig {path}: {source}; check the path given with --kubeconfig and its permissions"
    )]
    Unreadable {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no kubeconfig.
    #[error("cannot parse kubeconfig {path}: {reason}")]
    Malformed {
        /// Which file.
        path: String,
        /// Why.
        reason: String,
    },
    /// The kubeconfig lacks something or names a file that is not there.
    #[error("kubeconfig {path} cannot be used: {reason}")]
    Unusable {
        /// Which file.
        path: String,
        /// Why.
        reason: String,
    },
    /// Not in a cluster and no kubeconfig given.
    #[error("no --kubeconfig was given and the in-cluster configuration cannot be used: {0}")]
    NotInCluster(String),
    /// `--master` is no address.
    #[error("invalid --master {master:?}: {reason}")]
    BadMaster {
        /// What was given.
        master: String,
        /// Why not.
        reason: String,
    },
    /// Certificates or credentials cannot be used.
    #[error("cannot set up the connection to {server}: {reason}")]
    Setup {
        /// Which server.
        server: String,
        /// Why.
        reason: String,
    },
}

/// Loads the connection's settings as upstream does: the kubeconfig if one is given, else the
/// in-cluster ones; `--master` overrides the address.
pub async fn load(source: &ConfigSource) -> Result<Config, LoadError> {
    let master = source.master.as_deref().filter(|master| !master.is_empty());
    let mut config = match (&source.kubeconfig, master) {
        (Some(path), _) => from_file(path).await?,
        (None, Some(master)) => Config::new(parse_master(master)?),
        (None, None) => {
            Config::incluster().map_err(|error| LoadError::NotInCluster(error.to_string()))?
        }
    };
    if let Some(master) = master {
        config.cluster_url = parse_master(master)?;
    }
    // Retries are decided in one place, `client.rs`.
    config.default_retry = false;
    config.read_timeout = None;
    Ok(config)
}

async fn from_file(path: &Path) -> Result<Config, LoadError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| LoadError::Unreadable {
        path: shown.clone(),
        source,
    })?;
    Kubeconfig::from_yaml(&text).map_err(|error| LoadError::Malformed {
        path: shown.clone(),
        reason: chain(&error),
    })?;
    // Read again from its place, so that file names in it are taken relative to it.
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| LoadError::Malformed {
        path: shown.clone(),
        reason: chain(&error),
    })?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| LoadError::Unusable {
            path: shown,
            reason: chain(&error),
        })
}

fn parse_master(master: &str) -> Result<http::Uri, LoadError> {
    let bad = |reason: String| LoadError::BadMaster {
        master: master.to_owned(),
        reason,
    };
    let with_scheme = if master.contains("://") {
        master.to_owned()
    } else {
        format!("http://{master}")
    };
    let uri: http::Uri = with_scheme
        .parse()
        .map_err(|error| bad(format!("{error}")))?;
    if uri.host().is_none_or(str::is_empty) {
        return Err(bad("it names no host".to_owned()));
    }
    Ok(uri)
}

/// An error with all its causes, since the first line alone often says nothing.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn error_of(source: ConfigSource) -> String {
        load(&source).await.map(|_| ()).unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_missing_kubeconfig_is_named() {
        let source = ConfigSource {
            kubeconfig: Some("/does/not/exist".into()),
            ..Default::default()
        };
        let error = error_of(source).await;
        assert!(
            error.contains("cannot read kubeconfig /does/not/exist"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn nonsense_in_a_kubeconfig_is_named() {
        let path = std::env::temp_dir().join(format!("flyball-bad-{}", std::process::id()));
        std::fs::write(&path, "clusters: [}").unwrap();
        let source = ConfigSource {
            kubeconfig: Some(path.clone()),
            ..Default::default()
        };
        let error = error_of(source).await;
        std::fs::remove_file(&path).unwrap();
        assert!(error.contains("cannot parse kubeconfig"), "{error}");
    }

    #[tokio::test]
    async fn a_master_without_a_host_is_refused() {
        let source = ConfigSource {
            master: Some("http://".into()),
            ..Default::default()
        };
        assert!(error_of(source).await.contains("invalid --master"));
    }
}
