//! Documents about schemas, which are large and seldom change: made once for each state of the
//! CustomResourceDefinitions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use flyball_registry::{Answer, Chance, Method, Registry, Reply, Request};
use flyball_storage::{Query, Revision};

/// Where definitions are kept.
const DEFINITIONS: &str = "/registry/customresourcedefinitions.apiextensions.k8s.io/";

/// How many documents are kept; upstream has about 60 groups and versions, in two forms.
const KEPT_MAX: usize = 128;

/// The bytes after which those that are kept make way: what a client accepts can be written in any number of ways, and
/// each is kept apart.
const KEPT_BYTES_MAX: usize = 32 << 20;

/// The documents of one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// How many definitions there were, and the newest revision among them.
    state: Option<(usize, Revision)>,
    /// By path and by what the client accepts.
    answers: HashMap<(String, String), Answer>,
    /// The bytes of all of them.
    bytes: usize,
}

impl Documents {
    /// What the registry says to a request; documents are taken from here where they can be.
    pub(crate) fn reply(
        &self,
        registry: &mut Registry,
        request: Request<'_>,
        chance: &mut Chance<'_>,
    ) -> Reply {
        let is_document = request.method == Method::Get && request.path.starts_with("/openapi/");
        if !is_document || registry.check_access(&request).is_err() {
            return registry.handle(request, chance);
        }
        let state = state(registry);
        let key = (request.path.to_owned(), request.accept.to_owned());
        if let Some(answer) = self.find(state, &key) {
            return Reply::Answer(answer);
        }
        let reply = registry.handle(request, chance);
        if let Reply::Answer(answer) = &reply
            && answer.code == 200
        {
            self.keep(state, key, answer);
        }
        reply
    }

    fn find(&self, state: (usize, Revision), key: &(String, String)) -> Option<Answer> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.answers.get(key).filter(|_| kept.state == Some(state));
        found.cloned()
    }

    fn keep(&self, state: (usize, Revision), key: (String, String), answer: &Answer) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = key.0.len() + key.1.len() + answer.body.len();
        let has_room =
            kept.answers.len() < KEPT_MAX && kept.bytes.saturating_add(bytes) <= KEPT_BYTES_MAX;
        if kept.state != Some(state) || !has_room {
            *kept = Kept::default();
        }
        kept.state = Some(state);
        kept.bytes += bytes;
        kept.answers.insert(key, answer.clone());
    }
}

/// What tells states of the definitions apart: a write moves the newest revision among them, and an end
/// changes their number.
fn state(registry: &Registry) -> (usize, Revision) {
    let query = Query::prefix(DEFINITIONS);
    let all = registry.store().scan(&query);
    all.fold((0, Revision(0)), |(count, newest), item| {
        (count + 1, newest.max(item.modified))
    })
}

#[cfg(test)]
mod tests {
    use flyball_registry::Failure;

    use super::*;

    #[test]
    fn documents_make_way_before_they_fill_the_memory() {
        let documents = Documents::default();
        let state = (0, Revision(1));
        let answer = |bytes: usize| Answer {
            body: vec![0; bytes].into(),
            ..Failure::new(200, "", "").into()
        };
        let quarter = answer(KEPT_BYTES_MAX / 4);
        let key = |at: usize| ("/openapi/v2".to_owned(), at.to_string());
        for at in 0..100 {
            documents.keep(state, key(at), &quarter);
            assert!(documents.find(state, &key(at)).is_some());
            assert!(documents.0.lock().unwrap().bytes <= KEPT_BYTES_MAX);
        }
        // One that is larger than the bound is kept alone.
        documents.keep(state, key(100), &answer(2 * KEPT_BYTES_MAX));
        assert_eq!(documents.0.lock().unwrap().answers.len(), 1);
        assert!(documents.find((0, Revision(2)), &key(100)).is_none());
    }
}
