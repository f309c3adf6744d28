//! Ten thousand writes over HTTPS, and the server killed twenty times in the middle of them.
//!
//! The program starts itself as a child that serves a data folder. Writers create, replace and
//! delete objects as fast as they are answered; a watcher reads along. After some answers the child
//! is killed without warning, and the next one takes over the folder. Then:
//!
//! - every object is as the last answered write left it, or as the one write did that was under way;
//! - no object is half there: what is in it belongs together;
//! - no revision is given out twice, and none is lower than one that anybody has seen;
//! - the watch goes on where it was and sees every answered write, in order, or is told 410.

mod crash {
    pub(crate) mod child;
    pub(crate) mod ledger;
    pub(crate) mod watcher;
    pub(crate) mod writer;
}

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use crash::child::{self, Child};
use crash::ledger::Ledger;
use crash::watcher::Watcher;
use crash::writer;

/// What everything here comes to.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const KILLS: usize = 20;
const WRITES: usize = 10_000;
const WRITERS: usize = 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match (runtime, arguments.get(1..)) {
        (Err(error), _) => Err(error.into()),
        (Ok(runtime), Some([word, folder])) if word == child::WORD => {
            runtime.block_on(child::serve(Path::new(folder)))
        }
        (Ok(runtime), _) => runtime.block_on(nothing_that_was_answered_is_lost()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

async fn nothing_that_was_answered_is_lost() -> Outcome<()> {
    let name = format!("flyball-crash-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let ledger = Arc::new(Ledger::default());
    let mut watcher = Watcher::default();
    for round in 0..KILLS {
        let child = Child::start(&folder).await?;
        ledger.compare(&child.client).await?;
        // Kills come at many different places: early and late, with much and with little behind.
        let answers = WRITES / KILLS / 2 + WRITES * round / KILLS / (KILLS - 1);
        run_and_kill(child, &ledger, &mut watcher, answers).await?;
    }
    let child = Child::start(&folder).await?;
    ledger.compare(&child.client).await?;
    watcher.catch_up(&child.client, ledger.newest()).await?;
    watcher.compare(&ledger)?;
    child.kill()?;
    std::fs::remove_dir_all(&folder)?;
    if ledger.answered() < WRITES {
        return Err(format!("only {} writes were answered", ledger.answered()).into());
    }
    writeln!(
        std::io::stdout(),
        "{} answered writes survived {KILLS} kills; the watch saw {} events and was told {} times that it is too late",
        ledger.answered(),
        watcher.events(),
        watcher.expired()
    )?;
    Ok(())
}

/// Lets writers write and the watcher watch until so many writes have been answered, and kills the
/// child in the middle of what else is under way.
async fn run_and_kill(
    child: Child,
    ledger: &Arc<Ledger>,
    watcher: &mut Watcher,
    answers: usize,
) -> Outcome<()> {
    let enough = ledger.answered() + answers;
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..WRITERS {
        writers.spawn(writer::write_on(
            number,
            child.client.clone(),
            ledger.clone(),
        ));
    }
    tokio::select! {
        ended = watcher.follow(&child.client) => ended?,
        () = ledger.until_answered(enough) => {}
        Some(ended) = writers.join_next() => ended??,
    }
    child.kill()?;
    // Answers that had been sent still count; then each finds that nobody is there.
    while let Some(ended) = writers.join_next().await {
        ended??;
    }
    Ok(())
}
