//! What the server shows. The owner of the process hands it in; the server decides only who may see it.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, StatusCode};

use crate::health::Health;

type Render = Arc<dyn Fn() -> Reply + Send + Sync>;
type Serve = Arc<dyn Fn(Asked) -> BoxFuture<'static, Reply> + Send + Sync>;

/// The pages of one process. Health is always there; every other page is a 404 until it is added.
#[derive(Clone)]
pub struct Endpoints {
    pub(crate) health: Arc<dyn Health>,
    pages: Vec<(Cow<'static, str>, Render)>,
    routes: Vec<Route>,
}

impl Endpoints {
    /// Only `/healthz`, `/livez` and `/readyz`.
    pub fn new(health: Arc<dyn Health>) -> Self {
        Self {
            health,
            pages: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// `/metrics`: the content type and the text of a scrape.
    #[must_use]
    pub fn metrics<F>(self, scrape: F) -> Self
    where
        F: Fn() -> (&'static str, String) + Send + Sync + 'static,
    {
        self.page("/metrics", move || {
            let (content_type, text) = scrape();
            Reply::new(StatusCode::OK, content_type, text)
        })
    }

    /// `/configz`: the configuration in force, as `{"<group>": {…}}`.
    #[must_use]
    pub fn configz<F>(self, configuration: F) -> Self
    where
        F: Fn() -> serde_json::Value + Send + Sync + 'static,
    {
        self.page("/configz", move || Reply::json(&configuration()))
    }

    /// `/flagz`: the command line in force, as text.
    #[must_use]
    pub fn flagz<F: Fn() -> String + Send + Sync + 'static>(self, text: F) -> Self {
        self.page("/flagz", move || Reply::text(text()))
    }

    /// `/statusz`: start time, versions and such, as text.
    #[must_use]
    pub fn statusz<F: Fn() -> String + Send + Sync + 'static>(self, text: F) -> Self {
        self.page("/statusz", move || Reply::text(text()))
    }

    /// A page that needs nothing from the request, answered to GET and HEAD.
    #[must_use]
    pub fn page<F>(mut self, path: impl Into<Cow<'static, str>>, render: F) -> Self
    where
        F: Fn() -> Reply + Send + Sync + 'static,
    {
        self.pages.push((path.into(), Arc::new(render)));
        self
    }

    /// Anything else, such as what lives under `/debug/`.
    #[must_use]
    pub fn route(mut self, route: Route) -> Self {
        self.routes.push(route);
        self
    }

    pub(crate) fn find_page(&self, path: &str) -> Option<&Render> {
        self.pages
            .iter()
            .find(|(at, _)| at == path)
            .map(|(_, render)| render)
    }

    /// An exact route wins over a prefix, a longer prefix over a shorter one.
    pub(crate) fn find_route(&self, path: &str) -> Option<&Route> {
        let matching = self.routes.iter().filter(|route| route.matches(path));
        matching.max_by_key(|route| (!route.below, route.path.len()))
    }
}

/// A path with a function behind it. It sees every method and a bounded body, after authorization.
#[derive(Clone)]
pub struct Route {
    path: Cow<'static, str>,
    below: bool,
    pub(crate) serve: Serve,
}

impl Route {
    /// Answers `path` and nothing else.
    pub fn at<F, R>(path: impl Into<Cow<'static, str>>, serve: F) -> Self
    where
        F: Fn(Asked) -> R + Send + Sync + 'static,
        R: Future<Output = Reply> + Send + 'static,
    {
        Self {
            path: path.into(),
            below: false,
            serve: Arc::new(move |asked| serve(asked).boxed()),
        }
    }

    /// Answers every path that begins with `path`, which should end in a slash.
    pub fn below<F, R>(path: impl Into<Cow<'static, str>>, serve: F) -> Self
    where
        F: Fn(Asked) -> R + Send + Sync + 'static,
        R: Future<Output = Reply> + Send + 'static,
    {
        Self {
            below: true,
            ..Self::at(path, serve)
        }
    }

    fn matches(&self, path: &str) -> bool {
        if self.below {
            path.starts_with(self.path.as_ref())
        } else {
            path == self.path
        }
    }
}

/// A request that has been allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: Method,
    /// The decoded path.
    pub path: String,
    /// The decoded query, in order, with repeated keys.
    pub query: Vec<(String, String)>,
    /// The body, at most `Limits::body_bytes_max` bytes of it.
    pub body: Bytes,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) content_type: Cow<'static, str>,
    pub(crate) body: Bytes,
}

impl Reply {
    /// Any answer. A content type that is not a valid header value is left out.
    pub fn new(
        status: StatusCode,
        content_type: impl Into<Cow<'static, str>>,
        body: impl Into<Bytes>,
    ) -> Self {
        Self {
            status,
            content_type: content_type.into(),
            body: body.into(),
        }
    }

    /// 200 with plain text.
    pub fn text(body: impl Into<Bytes>) -> Self {
        Self::new(StatusCode::OK, crate::reply::TEXT, body)
    }

    /// 200 with JSON.
    pub fn json(value: &serde_json::Value) -> Self {
        Self::new(StatusCode::OK, "application/json", value.to_string())
    }

    /// An error with plain text.
    pub fn error(status: StatusCode, message: &str) -> Self {
        Self::new(status, crate::reply::TEXT, format!("{message}\n"))
    }
}
