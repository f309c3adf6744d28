//! `bench`: what Flyball costs, beside what upstream's manager costs.
//!
//! # `bench bytes`
//!
//! Fills the real informers, one kind after the other, with objects as a server would stream them, and
//! counts. No cluster is needed. Columns:
//!
//! - *JSON*: the object as the server writes it, bytes.
//! - *cached*: bytes the informer's allocations asked for, per object, once the cache is filled and every change
//!   has been delivered. Includes indexes and what objects share. This is the number with a limit.
//! - *resident*: growth of the process's resident memory per object, after every object has been modified once
//!   more. It adds what the allocator rounds up and what the exchange of old states for new ones leaves unused,
//!   so it is what an operator sees.
//! - *decode*: microseconds to read one object from its JSON, alone; the median.
//! - *informer*: microseconds to take in one object of a streamed list: the median to read it, and its share of
//!   storing, indexing and delivering all of them.
//!
//! # `bench commits`
//!
//! Only with the feature `engines`: `cargo run --release -p flyball-bench --features engines -- commits`.
//!
//! Lets writers commit small values and wait until each is durable: through our log, and through the engines fjall
//! and redb under the same group commit. No cluster is needed; the disk is the one of `--folder`. Columns:
//!
//! - *writers*: how many wait at a time, which is how many commits can share one sync.
//! - *p50*, *p99*: how long a commit takes until it is acknowledged.
//! - *CPU*: microseconds of CPU time per commit, the harness included, which is the same for all.
//! - *disk*: what the folder takes in the end; at most 10,000 different keys are written.
//! - *reopen*: how long it takes to open the folder again and read all of it.
//!
//! # `bench memory`
//!
//! Fills a cluster with pods of Deployments and with large ConfigMaps while a manager with all controllers of ours
//! runs, and reads its resident memory: *empty*, with *pods*, *full*, and after a *restart* that finds everything in
//! place.
//!
//! # `bench namespaces`
//!
//! Fills namespaces, deletes all of them at once and waits until those that nothing holds are gone; then those that a
//! foreign finalizer holds must say so in their conditions. *sockets* are open connections of the manager, those to its
//! own server included.
//!
//! # `bench ownership`
//!
//! Grows trees of owners and dependents, deletes the roots with each policy and waits until the garbage collector has
//! dealt with all of it. *start* is the time until a fresh process has collected a tree whose root was gone before.
//! With `--dead-webhook`, a custom resource that cannot be read is there from the beginning.
//!
//! # `bench plane`
//!
//! Starts `flyball up` as a process of its own and uses it over HTTPS. *start to first accepted write* ends when a
//! client that waits for the kubeconfig has had a ConfigMap created. *pods a second* counts from the first request
//! for a Deployment until the last pod is available, with the client on the same machine. With `--check` it fails
//! unless the limits are kept; on a machine with other work the times are worth nothing, and CPU per pod says more.
//!
//! # `bench workloads`
//!
//! Runs each manager on a fresh etcd and kube-apiserver of its own, all on this machine, with the same
//! controllers and limits, and takes it through the same phases:
//!
//! - *start*: an empty cluster, until the manager is healthy and has gone quiet.
//! - *create*: Deployments are created; ends when the last one is fully available.
//! - *halve*: every Deployment is scaled to half; ends when no surplus pod is left.
//! - *roll*: every Deployment gets another image; ends when all pods are new and available.
//! - *restart*: the manager is killed, one Deployment is scaled while none runs, a fresh process is started; ends when
//!   that Deployment is as wanted, which takes full caches.
//!
//! Rows: *wall* is what the harness saw on a watch of its own. *CPU* is user and system time, read before the phase
//! and again when the manager has gone quiet after it. *RSS* is resident memory at that moment, *peak* the highest
//! so far in that process. *requests* are the manager's own count (`rest_client_requests_total`), by method; watches
//! count once, when they end. With `--audit`, one more run per manager counts them by verb and resource from
//! the server's audit log; its times are not used.
//!
//! The API server, etcd, the harness and its kubelet share the machine with the manager, and the API server is the
//! bottleneck: wall times say "not slower", not "how fast". On a machine with other work they are worth nothing.
//! CPU and memory are steadier. `--rounds` repeats and alternates the order; the table shows medians.

// The terminal is this program's only output.
#![allow(clippy::print_stdout)]

mod bytes;
#[cfg(feature = "engines")]
mod commits;
mod contest;
mod measure;
mod memory;
mod namespaces;
mod ownership;
mod plane;
mod progress;
mod report;
mod sight;
mod table;
mod workloads;

use std::process::ExitCode;

use clap::Command;

#[global_allocator]
static ALLOCATOR: cap::Cap<mimalloc::MiMalloc> = cap::Cap::new(mimalloc::MiMalloc, usize::MAX);

fn main() -> ExitCode {
    let matches = command_line().get_matches();
    let outcome = match matches.subcommand() {
        Some(("bytes", arguments)) => bytes::run(arguments, || ALLOCATOR.allocated()),
        #[cfg(feature = "engines")]
        Some(("commits", arguments)) => commits::run(arguments, || ALLOCATOR.allocated()),
        Some(("memory", arguments)) => memory::run(arguments),
        Some(("namespaces", arguments)) => namespaces::run(arguments),
        Some(("ownership", arguments)) => ownership::run(arguments),
        Some(("plane", arguments)) => plane::run(arguments),
        Some(("workloads", arguments)) => workloads::run(arguments),
        _ => Ok(false),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command_line() -> Command {
    let command = Command::new("bench")
        .about("Measures Flyball, alone and beside upstream's manager")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(bytes::command_line())
        .subcommand(memory::command_line())
        .subcommand(namespaces::command_line())
        .subcommand(ownership::command_line())
        .subcommand(plane::command_line())
        .subcommand(workloads::command_line());
    #[cfg(feature = "engines")]
    let command = command.subcommand(commits::command_line());
    command
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_sound() {
        super::command_line().debug_assert();
    }
}
