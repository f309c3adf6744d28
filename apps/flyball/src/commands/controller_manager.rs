//! `flyball controller-manager`: configuration, clients, runtime, serving, and a clean stop.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use flyball::CONTROLLERS;
use flyball_client::{
    Client, ConfigSource, Observer, RateLimit, Request as ApiRequest, ServiceAccounts, load,
    user_agent,
};
use flyball_controllers::gates;
use flyball_election::Settings;
use flyball_runtime::{
    Controlled, Decisions, ElectionOptions, Metrics, Setup, TURNS_AFAR, event_loop, start,
};
use tokio::sync::watch;

use super::root_ca;
use super::signals::Signals;
use crate::controllers::{is_wanted, make, rate_factors};
use crate::identity::{VERSION, candidate};
use crate::options::{Built, Options, Request, parse};
use crate::{logging, serving};

/// How long the API server may take to answer at the start.
const SERVER_PATIENCE: Duration = Duration::from_secs(10);

/// Parses the words and runs until told to stop.
pub(super) fn run(program: &str, called: &str, words: &[String]) -> anyhow::Result<Option<String>> {
    let options = match parse(called, words)? {
        Request::Print(text) => return Ok(Some(text)),
        Request::Run(options) => *options,
    };
    logging::start(&options.logging)?;
    // One provider of cryptography for everything in the process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = event_loop(TURNS_AFAR).context("cannot start the asynchronous runtime")?;
    runtime.block_on(manage(program, &options))?;
    // Whatever a thread is still busy with is not worth waiting for.
    runtime.shutdown_background();
    Ok(None)
}

async fn manage(program: &str, options: &Options) -> anyhow::Result<()> {
    let names: Vec<&str> = CONTROLLERS
        .iter()
        .map(|entry| entry.descriptor.name)
        .collect();
    let gates: Vec<&str> = gates().map(|gate| gate.name).collect();
    for warning in options.warnings(Built {
        controllers: &names,
        gates: &gates,
    }) {
        tracing::warn!("{warning}");
    }
    for line in options.flag_lines() {
        tracing::debug!(flag = line, "FLAG");
    }
    let mut stopped = Signals::new()?;
    let source = ConfigSource {
        kubeconfig: options.client.kubeconfig.clone(),
        master: options.client.master.clone(),
    };
    let config = load(&source).await?;
    let root_ca = root_ca::read(&options.generic.root_ca_file, config.root_cert.as_deref())?;
    let mut metrics = Metrics::new();
    let clients = Clients::new(program, options, &config, metrics.observer())?;
    tokio::select! {
        answered = wait_for_server(&clients.root, &config.cluster_url) => answered?,
        () = stopped.asked() => return Ok(()),
    }
    let controllers: Vec<Controlled> = CONTROLLERS
        .iter()
        .filter(|entry| is_wanted(entry, options))
        .map(|entry| Controlled {
            driver: make(entry, options, &root_ca),
            client: clients.writing(entry.descriptor.client),
        })
        .collect();
    let running_names: Vec<&str> = controllers
        .iter()
        .map(|controlled| controlled.driver.descriptor().name)
        .collect();
    for controlled in &controllers {
        tracing::info!(
            controller = controlled.driver.descriptor().name,
            "starting controller"
        );
    }
    let setup = Setup {
        controllers,
        informers: clients.named("shared-informers"),
        election: election(options)
            .map(|election| (election, clients.unlimited("leader-election"))),
        shutdown_timeout: options.generic.shutdown_timeout.unwrap_or_default(),
        resync_period: resync_period(options, &running_names),
        decisions: Decisions::default(),
    };
    let running = start(setup, &mut metrics)?;
    let pages = serving::endpoints(options, running.health(), Arc::new(metrics));
    let (stop_serving, mut serving_stop) = watch::channel(false);
    let shutdown = async move {
        let _ = serving_stop.wait_for(|stop| *stop).await;
    };
    let served = match serving::serving_options(options).await {
        Ok(options) => flyball_serving::serve(options, pages, shutdown)
            .await
            .map_err(Into::into),
        Err(error) => Err(anyhow::Error::from(error)),
    };
    if let Err(error) = served {
        running.stop().await;
        return Err(error.context("cannot serve on the secure port"));
    }

    stopped.asked().await;
    tracing::info!("stopping: a second signal stops at once");
    tokio::select! {
        () = running.stop() => {}
        () = stopped.asked() => tracing::warn!("stopped at once"),
    }
    stop_serving.send_replace(true);
    Ok(())
}

/// The shortest resync period that any of these controllers was given. Caches are shared, and a
/// second look costs a controller that did not ask for it next to nothing.
fn resync_period(options: &Options, controllers: &[&str]) -> Duration {
    let configured = controllers
        .iter()
        .filter_map(|name| options.tunings.get(name)?.resync);
    configured
        .chain([options.generic.resync_period_min])
        .min()
        .unwrap_or(options.generic.resync_period_min)
}

fn election(options: &Options) -> Option<ElectionOptions> {
    let given = &options.leader_election;
    given.enabled.then(|| ElectionOptions {
        namespace: given.lease_namespace.clone(),
        name: given.lease_name.clone(),
        settings: Settings {
            identity: candidate().into(),
            lease_duration: given.lease_duration,
            renew_deadline: given.renew_deadline,
            retry_period: given.retry_period,
        },
        release_on_exit: true,
    })
}

/// Asks the server for its health each second, for ten seconds, as upstream does; says what
/// stands in the way.
async fn wait_for_server(client: &Client, server: &http::Uri) -> anyhow::Result<()> {
    let asked_until = tokio::time::Instant::now() + SERVER_PATIENCE;
    loop {
        let error = match client.send(&ApiRequest::get("/healthz")).await {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if tokio::time::Instant::now() >= asked_until {
            anyhow::bail!(
                "failed to wait for apiserver being healthy: {server}: {error}; \
                 check the address, the certificate authority and the credentials of the kubeconfig"
            );
        }
        tracing::warn!(%server, err = %error, "the API server does not answer yet");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Makes named clients, each with the rate limit of its own that upstream's flags ask for.
struct Clients<'a> {
    program: &'a str,
    options: &'a Options,
    root: Client,
    accounts: Option<ServiceAccounts>,
    observer: Arc<dyn Observer>,
}

impl<'a> Clients<'a> {
    fn new(
        program: &'a str,
        options: &'a Options,
        config: &kube::Config,
        observer: Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        let agent = user_agent(program, VERSION, "kube-controller-manager");
        let root = Client::new(config, &agent)?.observed(observer.clone());
        let accounts = options
            .generic
            .service_account_credentials
            .then(|| ServiceAccounts::new(root.clone(), config, program))
            .transpose()?;
        Ok(Self {
            program,
            options,
            root,
            accounts,
            observer,
        })
    }

    fn limit(&self, name: &str) -> Option<RateLimit> {
        let rate = self.options.client.rate?;
        let (qps, burst) = rate_factors(name);
        RateLimit::new(rate.qps * qps, rate.burst.saturating_mul(burst))
    }

    fn unlimited(&self, name: &str) -> Client {
        self.root
            .named(&user_agent(self.program, VERSION, name), None)
    }

    fn named(&self, name: &str) -> Client {
        self.root
            .named(&user_agent(self.program, VERSION, name), self.limit(name))
    }

    /// The client of a controller's writes: its service account's, if so configured.
    fn writing(&self, name: &str) -> Client {
        match &self.accounts {
            Some(accounts) => accounts
                .client(self.program, VERSION, name, self.limit(name))
                .observed(self.observer.clone()),
            None => self.named(name),
        }
    }
}
