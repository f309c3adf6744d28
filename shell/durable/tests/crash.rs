//! A process that is killed in the middle of writing has kept every write that it acknowledged.
//!
//! The program starts itself as a child that commits as fast as it can, from several tasks, and
//! says on its standard output what has been acknowledged. After some lines it is killed, without
//! warning; then the folder is opened and compared with what was said. The next child goes on from
//! there.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use flyball_durable::{Commit, Log, OpenError, Options};
use flyball_storage::{Limits, Revision, Store, Transaction};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const CHILD: &str = "write-until-killed";
const TASKS: usize = 16;
const KEYS: u64 = 40;

/// After how many acknowledgements each child is killed.
const ROUNDS: [usize; 12] = [1, 2, 3, 10, 50, 333, 7, 1000, 150, 20, 2000, 77];

/// So small that logs are finished and folded all the time, also when the process is killed.
fn options() -> Options {
    Options {
        queue_max: 8,
        log_bytes: 50_000,
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let outcome = match arguments.get(1..) {
        Some([child, folder]) if child == CHILD => write_until_killed(Path::new(folder)),
        _ => every_acknowledged_write_survives_a_kill(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

fn open(folder: &Path) -> Outcome<(Log, Store<Bytes>)> {
    let (log, recovered) = Log::open(folder, options())?;
    let store = recovered.into_store(Limits::default(), |_, bytes| Ok::<_, OpenError>(bytes))?;
    Ok((log, store))
}

/// What is stored at a revision: it can be checked, and is different for every revision.
fn value(key: &str, revision: Revision) -> Bytes {
    let mut text = format!("{key} at {revision} ");
    let wanted = 200 + (revision.0 % 37) as usize * 100;
    while text.len() < wanted {
        text.push_str("and so on ");
    }
    text.into()
}

fn write_until_killed(folder: &Path) -> Outcome<()> {
    let (log, store) = open(folder)?;
    let (log, store) = (Arc::new(log), Arc::new(Mutex::new(store)));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?;
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| runtime.spawn(write_on(log.clone(), store.clone())))
        .collect();
    for task in tasks {
        // Tasks only end if something went wrong.
        runtime.block_on(task)??;
    }
    Ok(())
}

async fn write_on(log: Arc<Log>, store: Arc<Mutex<Store<Bytes>>>) -> Outcome<()> {
    loop {
        let place = log.reserve().await?;
        let (key, revision) = {
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            let revision = store.revision().next();
            let key = format!("/registry/pods/default/{}", revision.0 % KEYS);
            // Now and then a key goes.
            let transaction = match revision.0.is_multiple_of(9) && store.get(&key).is_some() {
                true => Transaction::new().delete(&*key),
                false => Transaction::new().put(&*key, value(&key, revision)),
            };
            let committed = store.commit(transaction)?;
            place.append(Commit::of(&committed, Bytes::clone));
            (key, revision)
        };
        log.wait(revision).await?;
        writeln!(std::io::stdout().lock(), "{revision} {key}")?;
    }
}

fn every_acknowledged_write_survives_a_kill() -> Outcome<()> {
    let name = format!("flyball-durable-crash-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let mut acknowledged = BTreeMap::new();
    for lines in ROUNDS {
        let before = acknowledged.len();
        run_and_kill(&folder, lines, &mut acknowledged)?;
        assert!(acknowledged.len() >= before + lines);
        check(&folder, &acknowledged)?;
    }
    std::fs::remove_dir_all(&folder)?;
    writeln!(
        std::io::stdout(),
        "{} acknowledged writes survived {} kills",
        acknowledged.len(),
        ROUNDS.len()
    )?;
    Ok(())
}

/// Lets a child write until it has acknowledged so many commits, kills it, and notes all that it
/// acknowledged.
fn run_and_kill(
    folder: &Path,
    lines: usize,
    acknowledged: &mut BTreeMap<u64, String>,
) -> Outcome<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(CHILD)
        .arg(folder)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("no standard output")?;
    let newest_before = acknowledged.last_key_value().map_or(1, |last| *last.0);
    let mut read = 0;
    for line in BufReader::new(output).split(b'\n') {
        let line = String::from_utf8(line?)?;
        read += 1;
        if read == lines {
            assert_refused(folder, child.id());
            child.kill()?;
        }
        // A pipe takes short lines as a whole, so even the last is complete.
        let (revision, key) = line.split_once(' ').ok_or("a line without a key")?;
        let revision = revision.parse()?;
        assert!(revision > newest_before, "revision {revision} is reused");
        let earlier = acknowledged.insert(revision, key.to_owned());
        assert_eq!(earlier, None, "revision {revision} is used twice");
    }
    child.wait()?;
    Ok(())
}

/// The folder is held by the child.
fn assert_refused(folder: &Path, child: u32) {
    let Err(error) = Log::open(folder, options()) else {
        panic!("a second process opened the folder");
    };
    let holder = format!("(pid {child})");
    assert!(error.to_string().contains(&holder), "{error}");
}

/// Compares what the folder holds with what was acknowledged.
fn check(folder: &Path, acknowledged: &BTreeMap<u64, String>) -> Outcome<()> {
    let (_log, store) = open(folder)?;
    let newest = acknowledged.last_key_value().map_or(1, |last| *last.0);
    assert!(store.revision().0 >= newest, "{newest} is lost");
    for item in store.iter() {
        assert_eq!(item.value, value(&item.key, item.modified));
    }
    let mut keys = BTreeSet::new();
    for (revision, key) in acknowledged.iter().rev() {
        if !keys.insert(key) {
            continue;
        }
        // The last acknowledged write of the key is there, or a later one that could not be
        // acknowledged any more: the writer never turns back on a key.
        match store.get(key) {
            Some(item) => assert!(item.modified.0 >= *revision, "{key} at {revision} is lost"),
            None => {
                let deletes = (*revision..=store.revision().0).filter(|at| at.is_multiple_of(9));
                let mut deletes = deletes.filter(|at| key.ends_with(&format!("/{}", at % KEYS)));
                assert!(deletes.next().is_some(), "{key} at {revision} is lost");
            }
        }
    }
    Ok(())
}
