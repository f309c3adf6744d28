//! Programs of others, built once from their published Go modules: Kubernetes' own, and clients.
//!
//! The recipes (`verify/upstream`: module files, their checksums, a three-line `main` for etcd and programs of ours
//! on upstream's libraries) are part of this crate. The cache lives outside the repository: `$FLYBALL_CACHE`, or
//! `~/.cache/flyball`.

mod recipe;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use recipe::{Recipe, requirement};

const GO_MOD: &str = include_str!("../../upstream/go.mod");
const GO_SUM: &str = include_str!("../../upstream/go.sum");
const ETCD_MAIN: &str = include_str!("../../upstream/etcd/main.go");
const TYPES_MAIN: &str = include_str!("../../upstream/types/main.go");
const OLD_GO_MOD: &str = include_str!("../../upstream/kubectl-1.32/go.mod");
const OLD_GO_SUM: &str = include_str!("../../upstream/kubectl-1.32/go.sum");
const E2E_GO_MOD: &str = include_str!("../../upstream/e2e/go.mod");
const E2E_GO_SUM: &str = include_str!("../../upstream/e2e/go.sum");
const KUBERNETES: &str = "k8s.io/kubernetes";

const HELM: Recipe = Recipe {
    name: "helm",
    about: "helm 3 and 4 (once; 2 to 6 minutes on two cores)",
    files: &[
        ("go.mod", include_str!("../../upstream/helm/go.mod")),
        ("go.sum", include_str!("../../upstream/helm/go.sum")),
    ],
    programs: &[
        ("helm3", "helm.sh/helm/v3/cmd/helm"),
        ("helm4", "helm.sh/helm/v4/cmd/helm"),
    ],
    release: None,
};

const INFORMERS: Recipe = Recipe {
    name: "informers",
    about: "a program of client-go informers (once; a minute)",
    files: &[
        ("go.mod", include_str!("../../upstream/informers/go.mod")),
        ("go.sum", include_str!("../../upstream/informers/go.sum")),
        ("main.go", include_str!("../../upstream/informers/main.go")),
        ("gate.go", include_str!("../../upstream/informers/gate.go")),
        (
            "record.go",
            include_str!("../../upstream/informers/record.go"),
        ),
        (
            "trial.go",
            include_str!("../../upstream/informers/trial.go"),
        ),
        (
            "writes.go",
            include_str!("../../upstream/informers/writes.go"),
        ),
    ],
    programs: &[("informers", ".")],
    release: None,
};

/// Paths of upstream's programs, all of one Kubernetes release.
#[derive(Debug, Clone)]
pub struct Binaries {
    /// The etcd server.
    pub etcd: PathBuf,
    /// `kube-apiserver`.
    pub kube_apiserver: PathBuf,
    /// `kube-controller-manager`, the Go side of every comparison.
    pub kube_controller_manager: PathBuf,
    /// `kubectl`.
    pub kubectl: PathBuf,
}

impl Binaries {
    fn in_folder(folder: &Path) -> Self {
        Self {
            etcd: folder.join("etcd"),
            kube_apiserver: folder.join("kube-apiserver"),
            kube_controller_manager: folder.join("kube-controller-manager"),
            kubectl: folder.join("kubectl"),
        }
    }
}

/// The cache of upstream's binaries.
#[derive(Debug, Clone, Copy)]
pub struct Upstream;

impl Upstream {
    /// The Kubernetes release that the recipe names, such as `v1.36.4`.
    ///
    /// # Errors
    /// When the module file does not name one.
    pub fn version() -> Result<&'static str> {
        requirement(GO_MOD, KUBERNETES)
            .context("verify/upstream/go.mod does not require k8s.io/kubernetes")
    }

    /// The folder that holds, or will hold, the binaries of this recipe.
    ///
    /// # Errors
    /// When neither `FLYBALL_CACHE` nor `HOME` is set.
    pub fn folder() -> Result<PathBuf> {
        Self::recipe()?.folder()
    }

    /// Returns the binaries, building them first if the cache lacks them. The first build takes minutes and
    /// shows Go's own list of packages as progress on stderr; afterwards the call costs four `stat`s.
    ///
    /// # Errors
    /// When there is no Go toolchain, naming what to install, or when the build fails.
    pub fn ensure() -> Result<Binaries> {
        Ok(Binaries::in_folder(&Self::recipe()?.ensure()?))
    }

    /// Returns the path of `kube-scheduler`, built first if the cache lacks it.
    ///
    /// # Errors
    /// As [`Upstream::ensure`].
    pub fn scheduler() -> Result<PathBuf> {
        let scheduler = Recipe {
            name: "scheduler",
            about: "kube-scheduler (once; a minute)",
            files: &[("go.mod", GO_MOD), ("go.sum", GO_SUM)],
            programs: &[("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler")],
            release: Some(Self::version()?),
        };
        Ok(scheduler.ensure()?.join("kube-scheduler"))
    }

    /// Returns the path of `e2e.test`, Kubernetes' own end-to-end tests, built first if the cache lacks it.
    ///
    /// # Errors
    /// As [`Upstream::ensure`].
    pub fn e2e() -> Result<PathBuf> {
        let e2e = Recipe {
            name: "e2e",
            about: "e2e.test of Kubernetes (once; 5 to 15 minutes on two cores, without a word)",
            files: &[("go.mod", E2E_GO_MOD), ("go.sum", E2E_GO_SUM)],
            programs: &[("e2e.test", "k8s.io/kubernetes/test/e2e")],
            release: Some(Self::version()?),
        };
        Ok(e2e.ensure()?.join("e2e.test"))
    }

    /// Returns the path of a program of ours that prints what upstream's Go types are, built first if the cache
    /// lacks it.
    ///
    /// # Errors
    /// As [`Upstream::ensure`].
    pub fn types() -> Result<PathBuf> {
        let types = Recipe {
            name: "types",
            about: "a program that knows upstream's types (once; a minute)",
            files: &[
                ("go.mod", GO_MOD),
                ("go.sum", GO_SUM),
                ("types/main.go", TYPES_MAIN),
            ],
            programs: &[("types", "./types")],
            release: None,
        };
        Ok(types.ensure()?.join("types"))
    }

    fn recipe() -> Result<Recipe> {
        let version = Self::version()?;
        Ok(Recipe {
            name: version,
            about: "etcd, kube-apiserver, kube-controller-manager and kubectl of Kubernetes (once; 5 to 15 minutes \
                    on two cores)",
            files: &[
                ("go.mod", GO_MOD),
                ("go.sum", GO_SUM),
                ("etcd/main.go", ETCD_MAIN),
            ],
            programs: &[
                ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
                (
                    "kube-controller-manager",
                    "k8s.io/kubernetes/cmd/kube-controller-manager",
                ),
                ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
                ("etcd", "./etcd"),
            ],
            release: Some(version),
        })
    }
}

/// Paths of the clients that are tried on an API server.
#[derive(Debug, Clone)]
pub struct Tools {
    /// kubectl of the newest release, the same as in [`Binaries`].
    pub kubectl: PathBuf,
    /// kubectl of the oldest release that is tried.
    pub kubectl_old: PathBuf,
    /// Helm 3.
    pub helm3: PathBuf,
    /// Helm 4.
    pub helm4: PathBuf,
    /// client-go's informers and a judge of what they saw.
    pub informers: PathBuf,
    /// `kube-scheduler`, which a reference needs so that pods run.
    pub kube_scheduler: PathBuf,
}

impl Tools {
    /// The Kubernetes release of the old kubectl, such as `v1.32.13`.
    ///
    /// # Errors
    /// When its module file does not name one.
    pub fn old_version() -> Result<&'static str> {
        requirement(OLD_GO_MOD, KUBERNETES)
            .context("verify/upstream/kubectl-1.32/go.mod does not require k8s.io/kubernetes")
    }

    /// Returns the clients, building first whatever the cache lacks.
    ///
    /// # Errors
    /// As [`Upstream::ensure`].
    pub fn ensure() -> Result<Self> {
        let old = Recipe {
            name: "kubectl",
            about: "kubectl v1.32 (once; 1 to 4 minutes on two cores)",
            files: &[("go.mod", OLD_GO_MOD), ("go.sum", OLD_GO_SUM)],
            programs: &[("kubectl", "k8s.io/kubernetes/cmd/kubectl")],
            release: Some(Self::old_version()?),
        };
        let helm = HELM.ensure()?;
        Ok(Self {
            kubectl: Upstream::ensure()?.kubectl,
            kubectl_old: old.ensure()?.join("kubectl"),
            helm3: helm.join("helm3"),
            helm4: helm.join("helm4"),
            informers: INFORMERS.ensure()?.join("informers"),
            kube_scheduler: Upstream::scheduler()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipes_name_kubernetes_releases() {
        let version = Upstream::version().unwrap();
        assert!(version.starts_with("v1.36."), "{version}");
        let old = Tools::old_version().unwrap();
        assert!(old.starts_with("v1.32."), "{old}");
        assert_eq!(requirement(E2E_GO_MOD, KUBERNETES), Some(version));
    }
}
