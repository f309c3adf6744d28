//! `flyball demo`: a tour of a control plane, in the terminal, with nothing to install.
//!
//! An ephemeral plane runs in this process. The tour changes what is desired, and shows how the
//! actual state follows, who decided what on the way, and why.

mod narration;
mod page;
mod sight;

use std::io::{self, IsTerminal as _, Stdout};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::{Arg, ArgMatches, Command, builder::PossibleValuesParser};
use flyball::{Client, Decision, Method, Plane, PlaneOptions, Request, WatchStream};
use flyball_runtime::{TURNS_WITHIN, event_loop};
use serde_json::{Value, json};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::{Instant, sleep, sleep_until};

use super::words::{self, Asked};
use narration::{Narrator, Said, short};
use page::{Page, wants_colours};
use sight::Sight;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";
const FIRST_IMAGE: &str = "shop:v1";
const NEXT_IMAGE: &str = "shop:v2";
const NODES: usize = 3;

/// How long a step may take before something must be wrong.
const PATIENCE: Duration = Duration::from_secs(30);

/// Decisions so close to each other are told together.
const TOGETHER: Duration = Duration::from_millis(60);

/// Runs the tour; a step that does not come to its end is an error.
pub(super) fn run(words: &[String]) -> anyhow::Result<Option<String>> {
    let matches = match words::read_quietly(command_line(), words)? {
        Asked::Print(text) => return Ok(Some(text)),
        Asked::Run(matches) => matches,
    };
    let runtime = event_loop(TURNS_WITHIN).context("cannot start the asynchronous runtime")?;
    let ended = runtime.block_on(tour(Speed::of(&matches)));
    runtime.shutdown_background();
    match ended {
        // Whoever reads it has seen enough, as `head` has after some lines.
        Err(error) if is_closed_pipe(&error) => Ok(None),
        ended => ended.map(|()| None),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

fn command_line() -> Command {
    Command::new("flyball demo")
        .bin_name("flyball demo")
        .about("See a control plane at work: what is desired, what there is, who decides what, and why")
        .arg(
            Arg::new("speed")
                .long("speed")
                .value_name("SPEED")
                .default_value("normal")
                .value_parser(PossibleValuesParser::new(["slow", "normal", "fast"]))
                .help("How much time to leave for reading; fast also lets pods start at once"),
        )
}

/// How fast the tour goes.
#[derive(Clone, Copy)]
struct Speed {
    /// How long to wait between steps.
    pause: Duration,
    /// How long pods take to start, and then to become ready.
    pod_delay_ms: u32,
}

impl Speed {
    fn of(matches: &ArgMatches) -> Self {
        let (pause_ms, pod_delay_ms) = match matches.get_one::<String>("speed").map(String::as_str)
        {
            Some("slow") => (5_000, 500),
            Some("fast") => (0, 0),
            _ => (1_500, 300),
        };
        Self {
            pause: Duration::from_millis(pause_ms),
            pod_delay_ms,
        }
    }
}

/// Everything the tour holds on to.
struct Tour {
    client: Client,
    decisions: Receiver<Arc<Decision>>,
    deployments: WatchStream,
    pods: WatchStream,
    sight: Sight,
    narrator: Narrator,
    page: Page<Stdout>,
    speed: Speed,
    steps: usize,
}

async fn tour(speed: Speed) -> anyhow::Result<()> {
    let began = Instant::now();
    let options = PlaneOptions {
        nodes: NODES,
        ..PlaneOptions::default()
    };
    let plane = Plane::start_with(options).await?;
    let client = plane.client("flyball demo");
    let mut tour = Tour {
        decisions: plane.decisions(),
        deployments: client.watch(&format!("{DEPLOYMENTS}?watch=1")).await?,
        pods: client.watch(&format!("{PODS}?watch=1")).await?,
        client,
        sight: Sight::default(),
        narrator: Narrator::default(),
        page: Page::new(io::stdout(), colours(), width()),
        speed,
        steps: 0,
    };
    let introduced = tour.introduce(&plane);
    let toured = match introduced {
        Ok(()) => tour.steps().await,
        Err(error) => Err(error),
    };
    plane.stop().await;
    toured?;
    tour.page.gap()?;
    tour.page.text(&format!(
        "That was all, in {:.0} s. Nothing is left behind.\n\
         A control plane that stays, and that kubectl can use: flyball up",
        began.elapsed().as_secs_f64()
    ))?;
    Ok(())
}

/// How wide the terminal is, if there is one.
fn width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size()?;
    Some(usize::from(width.0))
}

fn colours() -> bool {
    let variable = |name: &str| std::env::var(name).ok();
    let (term, no_color) = (variable("TERM"), variable("NO_COLOR"));
    wants_colours(
        io::stdout().is_terminal(),
        term.as_deref(),
        no_color.as_deref(),
    )
}

impl Tour {
    fn introduce(&mut self, plane: &Plane) -> anyhow::Result<()> {
        let controllers = plane.controllers().len();
        self.page.text(&format!(
            "A Kubernetes control plane runs in this process: an API server, {controllers} \
             controllers, a scheduler and {NODES} simulated nodes. You say what you want, and \
             they work until it is so. Each pod is a mark, and goes by the end of its name:"
        ))?;
        self.page.gap()?;
        self.page
            .text("  ● ready   ○ starting   × stopping   · missing   (■ □ are of a newer image)")?;
        Ok(())
    }

    async fn steps(&mut self) -> anyhow::Result<()> {
        let create = Request::with(
            Method::Post,
            DEPLOYMENTS,
            deployment(self.speed.pod_delay_ms).to_string(),
        );
        self.step(
            "A Deployment of three",
            "Desired are three pods of one image; nothing is there yet.",
            &format!("create Deployment web: 3 pods of {FIRST_IMAGE}"),
            &create,
            Sight::settled,
        )
        .await?;

        let victim = self.sight.oldest().context("there is no pod to kill")?;
        let victim = victim.to_owned();
        let kill = Request::with(
            Method::Delete,
            format!("{PODS}/{victim}"),
            json!({"gracePeriodSeconds": 0}).to_string(),
        );
        let gone = victim.clone();
        self.step(
            "A pod dies",
            "Nobody asks for a new one: the desired state has not changed.",
            &format!("kill pod {}", short(&victim)),
            &kill,
            move |sight| !sight.has(&gone) && sight.settled(),
        )
        .await?;

        let roll = Request::with(
            Method::StrategicPatch,
            format!("{DEPLOYMENTS}/web"),
            json!({"spec": {"template": {"spec": {"containers": [
                {"name": "shop", "image": NEXT_IMAGE}
            ]}}}})
            .to_string(),
        );
        self.step(
            "A rolling update",
            "A new image, and never fewer than three pods available, never more than four in all.",
            &format!("set the image of Deployment web to {NEXT_IMAGE}"),
            &roll,
            Sight::settled,
        )
        .await?;

        let delete = Request::with(
            Method::Delete,
            format!("{DEPLOYMENTS}/web"),
            json!({"propagationPolicy": "Foreground"}).to_string(),
        );
        self.step(
            "Everything goes",
            "What belongs to the Deployment goes first: the pods, then their ReplicaSet, then it.",
            "delete Deployment web in the foreground",
            &delete,
            Sight::gone,
        )
        .await
    }

    /// Sends a request and shows what follows, until the goal is reached and all has been told.
    async fn step(
        &mut self,
        title: &str,
        story: &str,
        what: &str,
        request: &Request,
        goal: impl Fn(&Sight) -> bool,
    ) -> anyhow::Result<()> {
        self.steps += 1;
        if self.steps > 1 {
            sleep(self.speed.pause).await;
        }
        self.page.head(self.steps, title, story)?;
        let began = Instant::now();
        self.client
            .send(request)
            .await
            .map_err(|error| anyhow!("step {}, {title}: cannot {what}: {error}", self.steps))?;
        let you = Said {
            who: "you".to_owned(),
            what: what.to_owned(),
            why: String::new(),
        };
        self.until_seen().await?;
        self.row(began, &you)?;

        let mut news: Vec<Arc<Decision>> = Vec::new();
        let mut tell_at: Option<Instant> = None;
        let mut last_why = String::new();
        loop {
            let reached = goal(&self.sight);
            // Long enough for whoever sees the last change to say so.
            let quiet = Instant::now() + 3 * TOGETHER;
            let wake = tell_at.unwrap_or(if reached { quiet } else { began + PATIENCE });
            tokio::select! {
                decision = self.decisions.recv() => match decision {
                    Ok(decision) => {
                        if decision.controller == "deployment-controller" {
                            last_why = decision.finished.report.to_string();
                        }
                        if !decision.deeds.is_empty() {
                            news.push(decision);
                            tell_at.get_or_insert(Instant::now() + TOGETHER);
                        }
                    }
                    Err(RecvError::Lagged(missed)) => bail!("{missed} decisions went by untold"),
                    Err(RecvError::Closed) => bail!("the control plane has stopped"),
                },
                line = self.deployments.next() => self.sight.deployment(&event(line)?),
                line = self.pods.next() => self.sight.pod(&event(line)?),
                () = sleep_until(wake) => {
                    if tell_at.take().is_some() {
                        for said in self.narrator.lines(&news) {
                            self.row(began, &said)?;
                        }
                        news.clear();
                    } else if reached {
                        break;
                    } else {
                        bail!(
                            "step {}, {title}: not there after {} s: {}; deployment-controller says: {last_why}",
                            self.steps,
                            PATIENCE.as_secs(),
                            self.sight.words()
                        );
                    }
                }
            }
        }
        let took = (began.elapsed().saturating_sub(3 * TOGETHER)).as_secs_f64();
        self.page
            .reached(&format!("as desired after {took:.1} s, and at rest"))?;
        Ok(())
    }

    /// Reads the first that the watches tell: what the request that was just answered has changed.
    async fn until_seen(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            line = self.deployments.next() => self.sight.deployment(&event(line)?),
            line = self.pods.next() => self.sight.pod(&event(line)?),
            () = sleep(PATIENCE) => bail!("the API server does not tell what has changed"),
        }
        Ok(())
    }

    fn row(&mut self, began: Instant, said: &Said) -> io::Result<()> {
        let actual = self.sight.actual(FIRST_IMAGE);
        self.page
            .row(began.elapsed(), self.sight.desired(), &actual, said)
    }
}

/// A line of a watch.
fn event(line: Result<Option<impl AsRef<[u8]>>, flyball::ApiError>) -> anyhow::Result<Value> {
    let line = line.map_err(|error| anyhow!("{error}"))?;
    let line = line.context("the API server ended a watch")?;
    Ok(serde_json::from_slice(line.as_ref())?)
}

fn deployment(pod_delay_ms: u32) -> Value {
    let delay = pod_delay_ms.to_string();
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {
                    "labels": {"app": "web"},
                    "annotations": {
                        "kubelet.flyball.dev/start-delay-ms": delay,
                        "kubelet.flyball.dev/ready-delay-ms": delay,
                    },
                },
                "spec": {"containers": [{"name": "shop", "image": FIRST_IMAGE}]},
            },
        },
    })
}
