//! What a reflector is told, and what it asks for.

use std::time::Duration;

use flyball_api::ApiError;

/// What happened since the last step.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// Begin. Also begins anew, whatever was going on; the cache keeps serving meanwhile.
    Start,
    /// List again, consistently, by requests made from now on. The request under way is dropped;
    /// the cache keeps serving. Every retry is consistent too, until one list is complete. Ignored
    /// before the start.
    Relist,
    /// The connection is suspect: make the request under way once more. A watch goes on from the
    /// last version, a list begins again. Ignored if no request is under way.
    Reopen,
    /// The server answers again. A wait that it did not ask for ends at once.
    Retry,
    /// The whole body of the answer to a [`Command::List`].
    Page(&'a [u8]),
    /// The answer to a [`Command::Watch`] has begun: the server accepted it.
    WatchStarted,
    /// One line of a watch, with or without its line end.
    Event(&'a [u8]),
    /// The watch came to an orderly end.
    WatchEnded,
    /// The request under way failed, before or after its answer began.
    Failed(&'a ApiError),
    /// The time of the deadline has come.
    Elapsed,
}

/// What to do next. A command ends whatever request is under way: its stream is to be dropped.
///
/// After every step, the deadline is to be read again: [`Input::Elapsed`] is due when it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Ask for a list, or one page of it, and give back [`Input::Page`] or [`Input::Failed`].
    List(ListRequest),
    /// Watch, and give back what the stream says.
    Watch(WatchRequest),
    /// Do nothing but wait for the deadline, which is this far away.
    Wait(Duration),
}

/// A list, or a page of one, of all objects of the kind.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ListRequest {
    /// A state not older than this version; `None` for the newest state.
    pub resource_version: Option<String>,
    /// How many objects the page may have; `None` for all.
    pub limit: Option<u32>,
    /// The next page of the list that gave this token.
    pub continue_token: Option<String>,
}

impl ListRequest {
    /// The query parameters, not escaped.
    pub fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = Vec::new();
        query.extend(self.limit.map(|limit| ("limit", limit.to_string())));
        query.extend(self.continue_token.clone().map(|token| ("continue", token)));
        query.extend(
            self.resource_version
                .clone()
                .map(|version| ("resourceVersion", version)),
        );
        query
    }
}

/// A watch of all objects of the kind, with bookmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRequest {
    /// Where to begin; empty (only with `send_initial_events`) for the newest state.
    pub resource_version: String,
    /// Ask for the objects there are first: a list by way of the watch.
    pub send_initial_events: bool,
    /// After how many seconds the server is to end the watch.
    pub timeout_seconds: u32,
}

impl WatchRequest {
    /// The query parameters, not escaped.
    pub fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = vec![
            ("watch", "true".to_owned()),
            ("allowWatchBookmarks", "true".to_owned()),
            ("timeoutSeconds", self.timeout_seconds.to_string()),
        ];
        if self.send_initial_events {
            query.push(("sendInitialEvents", "true".to_owned()));
            query.push(("resourceVersionMatch", "NotOlderThan".to_owned()));
        }
        if !self.resource_version.is_empty() {
            query.push(("resourceVersion", self.resource_version.clone()));
        }
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streamed_list_may_begin_at_the_newest_state() {
        let watch = WatchRequest {
            resource_version: String::new(),
            send_initial_events: true,
            timeout_seconds: 300,
        };
        let query = watch.query();
        assert!(query.contains(&("resourceVersionMatch", "NotOlderThan".to_owned())));
        assert!(query.iter().all(|(key, _)| *key != "resourceVersion"));
    }

    #[test]
    fn a_list_says_only_what_was_asked_for() {
        assert_eq!(ListRequest::default().query(), []);
        let page = ListRequest {
            limit: Some(500),
            ..ListRequest::default()
        };
        assert_eq!(page.query(), [("limit", "500".to_owned())]);
    }
}
