//! The tables of the bootstrap policy against a real kube-apiserver v1.36.4.
//!
//! `v1.36.4.jsonl` is what `kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -o json`
//! said of everything labelled `kubernetes.io/bootstrapping=rbac-defaults`, on a cluster with
//! default feature gates and with upstream's controllers running: one object a line, its metadata
//! reduced to name, namespace, labels and annotations. Nothing else was changed.

#[cfg(test)]
mod golden;
