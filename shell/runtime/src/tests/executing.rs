//! The executor: pace, term, requests and what is made of answers.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::{Pod, ReplicaSet};
use flyball_api::{Class, LeanMeta, Uid};
use flyball_plan::{
    Action, Actions, Answer as Got, Body, Precondition, Propagation, Read, Subresource, Target,
    Write,
};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::api::{Answer, Api, Asked, pass, status};
use super::toys::{shared, win};
use crate::coalesced_reads::CoalescedReads;
use crate::events::Events;
use crate::executor::{Executor, REQUESTS_MAX, Tools};
use crate::shared::Shared;

/// An executor whose permission has no end.
fn executor(api: &Api) -> Executor {
    executor_of(api, &shared(api, None))
}

/// An executor whose permission ends after so long, by the clock alone.
fn executor_for(api: &Api, term: Duration) -> Executor {
    let shared = shared(api, Some(term));
    win(&shared);
    executor_of(api, &shared)
}

fn executor_of(api: &Api, shared: &Arc<Shared>) -> Executor {
    let tools = Tools {
        shared: shared.clone(),
        client: api.client(),
        events: Events::new("toy"),
        requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
        reads: CoalescedReads::new(shared.clone(), 0),
    };
    Executor::new(&tools, shared.look(|process, _| process.round()))
}

fn creates(n: usize) -> Vec<Action> {
    let body = |i: usize| Body::of(&json!({"metadata": {"name": format!("pod-{i}")}}));
    let create = |i| Write::create(Pod::KIND, "shop", body(i)).into();
    (0..n).map(create).collect()
}

/// Answers each create in a second with the object's name; those that `fails` names fail.
fn serving(fails: fn(usize) -> bool) -> Api {
    Api::new(move |_, asked| {
        if asked.method == "GET" {
            return status(404, "NotFound");
        }
        let name = asked.json()["metadata"]["name"]
            .as_str()
            .unwrap()
            .to_owned();
        let i: usize = name.trim_start_matches("pod-").parse().unwrap();
        let second = Duration::from_secs(1);
        if fails(i) {
            let no = r#"{"kind":"Status","reason":"Forbidden","message":"quota","code":403}"#;
            return Answer::Later(second, 403, no.to_owned());
        }
        let body = json!({"metadata": {"name": name, "uid": "u", "resourceVersion": "9"}});
        Answer::Later(second, 201, body.to_string())
    })
}

/// How many requests were sent in each second.
fn batches(asks: &[Asked]) -> Vec<usize> {
    let mut batches: Vec<(Instant, usize)> = Vec::new();
    for asked in asks {
        match batches.last_mut() {
            Some((at, count)) if *at == asked.at => *count += 1,
            _ => batches.push((asked.at, 1)),
        }
    }
    batches.into_iter().map(|(_, count)| count).collect()
}

fn kinds(answers: &[Got]) -> String {
    let kind = |answer: &Got| match answer {
        Got::Done(_) => 'd',
        Got::Failed(_) => 'f',
        Got::Skipped => '-',
        Got::Read(_) | Got::Listed(_) | Got::Discovered(_) => 'r',
    };
    answers.iter().map(kind).collect()
}

/// Every sync under way holds such a future, and every action of a batch the most of one.
#[tokio::test]
async fn a_sync_is_small_while_it_waits() {
    let api = serving(|_| false);
    let executor = executor(&api);
    let actions = Actions::slow_start("create", creates(1));
    let bytes = size_of_val(&executor.run(&actions));
    assert!(bytes <= 1024, "{bytes}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_doubles_its_batches() {
    let api = serving(|_| false);
    let executor = executor(&api);
    let answers = executor
        .run(&Actions::slow_start("create", creates(10)))
        .await
        .unwrap();
    assert_eq!(batches(&api.asks()), [1, 2, 4, 3]);
    assert_eq!(kinds(&answers), "dddddddddd");
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_stops_after_the_batch_that_fails() {
    let api = serving(|i| i == 1);
    let executor = executor(&api);
    let answers = executor
        .run(&Actions::slow_start("create", creates(10)))
        .await
        .unwrap();
    assert_eq!(batches(&api.asks()), [1, 2]);
    assert_eq!(kinds(&answers), "dfd-------");
    assert_eq!(answers[1].error().unwrap().class(), Class::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn together_sends_all_at_once_and_a_failure_skips_nothing() {
    let api = serving(|i| i == 0);
    let executor = executor(&api);
    let answers = executor
        .run(&Actions::together("create", creates(5)))
        .await
        .unwrap();
    assert_eq!(batches(&api.asks()), [5]);
    assert_eq!(kinds(&answers), "fdddd");
}

#[tokio::test(start_paused = true)]
async fn no_more_requests_are_under_way_than_allowed() {
    let api = serving(|_| false);
    let executor = executor(&api);
    let start = Instant::now();
    executor
        .run(&Actions::together("create", creates(REQUESTS_MAX + 1)))
        .await
        .unwrap();
    assert_eq!(batches(&api.asks()), [REQUESTS_MAX, 1]);
    assert_eq!(start.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn in_order_goes_one_by_one_and_skips_after_a_failure() {
    let api = serving(|i| i == 2);
    let executor = executor(&api);
    let answers = executor
        .run(&Actions::in_order("create", creates(5)))
        .await
        .unwrap();
    assert_eq!(batches(&api.asks()), [1, 1, 1]);
    assert_eq!(kinds(&answers), "ddf--");
}

#[tokio::test(start_paused = true)]
async fn after_the_term_nothing_is_sent() {
    let api = serving(|_| false);
    let executor = executor_for(&api, Duration::from_millis(2_500));
    // Sent at 0, 1 and 2 s; at 3 s the term is over by the clock alone.
    let answers = executor
        .run(&Actions::in_order("create", creates(9)))
        .await
        .unwrap_err();
    assert_eq!(kinds(&answers), "ddd------");
    assert_eq!(api.asks().len(), 3);
    // A whole batch, then one at once: not a single request.
    executor
        .run(&Actions::together("create", creates(9)))
        .await
        .unwrap_err();
    executor
        .run(&Actions::slow_start("create", creates(9)))
        .await
        .unwrap_err();
    assert_eq!(api.asks().len(), 3);
    // Reading is allowed at any time.
    let ask = Read::get(target()).into();
    let answers = executor.run(&Actions::in_order("ask", vec![ask])).await;
    assert_eq!(api.asks().len(), 4, "{answers:?}");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_waits_for_its_turn_is_not_sent_after_the_term() {
    let api = serving(|_| false);
    let executor = executor_for(&api, Duration::from_millis(500));
    let actions = Actions::together("create", creates(REQUESTS_MAX + 5));
    let answers = executor.run(&actions).await.unwrap_err();
    assert_eq!(api.asks().len(), REQUESTS_MAX);
    let sent = answers
        .iter()
        .filter(|answer| matches!(answer, Got::Done(_)))
        .count();
    assert_eq!(sent, REQUESTS_MAX, "the answers that came count");
}

fn meta() -> LeanMeta {
    LeanMeta {
        name: "web".into(),
        namespace: "shop".into(),
        uid: Uid::new("u-1"),
        resource_version: "7".into(),
        ..LeanMeta::default()
    }
}

fn target() -> Target {
    Target::of(ReplicaSet::KIND, &meta())
}

#[tokio::test(start_paused = true)]
async fn each_action_is_one_request_with_its_precondition() {
    let api = Api::new(|_, _| {
        Answer::Is(
            200,
            r#"{"metadata":{"name":"n","uid":"u","resourceVersion":"8"}}"#.to_owned(),
        )
    });
    let executor = executor(&api);
    let precondition = Precondition::unchanged(&meta());
    let patch = json!({"spec": {"replicas": 2}});
    let body = Body::patch(&precondition, patch.clone());
    let items = vec![
        Write::patch(target(), precondition.clone(), patch)
            .to_subresource(Subresource::STATUS)
            .into(),
        Write::update(target(), precondition.clone(), body).into(),
        Write::delete(ReplicaSet::KIND, &meta()).into(),
        Write::delete_if(target(), precondition)
            .propagating(Propagation::Orphan)
            .within(0)
            .into(),
        Read::get(target()).into(),
    ];
    let answers = executor
        .run(&Actions::in_order("all", items))
        .await
        .unwrap();
    assert_eq!(kinds(&answers), "ddddr");
    let path = "/apis/apps/v1/namespaces/shop/replicasets/web";
    let expected = [
        format!("PATCH {path}/status"),
        format!("PUT {path}"),
        format!("DELETE {path}"),
        format!("DELETE {path}"),
        format!("GET {path}"),
    ];
    assert_eq!(api.lines(), expected);
    let asks = api.asks();
    assert_eq!(
        asks[0].json()["metadata"],
        json!({"uid": "u-1", "resourceVersion": "7"})
    );
    let options =
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "u-1"}});
    assert_eq!(asks[2].json(), options);
    let orphan = asks[3].json();
    assert_eq!(orphan["propagationPolicy"], "Orphan");
    assert_eq!(orphan["gracePeriodSeconds"], 0);
    assert_eq!(
        orphan["preconditions"],
        json!({"uid": "u-1", "resourceVersion": "7"})
    );
    let Got::Done(patched) = &answers[0] else {
        panic!("not done")
    };
    assert_eq!(
        (patched.name.as_str(), patched.resource_version.as_str()),
        ("n", "8")
    );
    let Got::Done(deleted) = &answers[2] else {
        panic!("not done")
    };
    assert_eq!(
        (deleted.name.as_str(), deleted.uid.to_string().as_str()),
        ("web", "u-1")
    );
}

#[tokio::test(start_paused = true)]
async fn a_binding_is_posted_with_the_identity_of_the_pod() {
    let success = r#"{"kind":"Status","apiVersion":"v1","status":"Success","code":201}"#;
    let api = Api::new(move |_, _| Answer::Is(201, success.to_owned()));
    let executor = executor(&api);
    let bind =
        |precondition| Write::bind(Target::of(Pod::KIND, &meta()), precondition, "node-1").into();
    let items = vec![
        bind(Precondition::unchanged(&meta())),
        bind(Precondition::incarnation(&meta())),
    ];
    let answers = executor
        .run(&Actions::in_order("bind", items))
        .await
        .unwrap();
    let path = "POST /api/v1/namespaces/shop/pods/web/binding";
    assert_eq!(api.lines(), [path, path]);
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"namespace": "shop", "name": "web", "uid": "u-1", "resourceVersion": "7"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
    });
    let asks = api.asks();
    assert_eq!(asks[0].json(), expected);
    let metadata = json!({"namespace": "shop", "name": "web", "uid": "u-1"});
    assert_eq!(asks[1].json()["metadata"], metadata);
    let Got::Done(bound) = &answers[0] else {
        panic!("not done")
    };
    // A Status says nothing of the pod, least of all its version.
    assert_eq!(
        (bound.name.as_str(), bound.resource_version.as_str()),
        ("web", "")
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_read_is_a_write_all_the_same() {
    let api = Api::new(|_, _| Answer::Is(201, "<html>".to_owned()));
    let executor = executor(&api);
    let answers = executor
        .run(&Actions::in_order("create", creates(1)))
        .await
        .unwrap();
    assert_eq!(kinds(&answers), "d");
    let ask = vec![Read::get(target()).into()];
    let answers = executor.run(&Actions::in_order("ask", ask)).await.unwrap();
    assert!(
        answers[0]
            .error()
            .unwrap()
            .to_string()
            .contains("cannot read"),
        "{answers:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_is_an_answer_like_any_other() {
    let api = Api::new(|_, _| status(409, "AlreadyExists"));
    let executor = executor(&api);
    let answers = executor
        .run(&Actions::in_order("create", creates(1)))
        .await
        .unwrap();
    assert_eq!(answers[0].error().unwrap().class(), Class::AlreadyExists);
}

#[tokio::test(start_paused = true)]
async fn collections_are_listed_by_their_metadata_and_deleted_as_a_whole() {
    let api = Api::new(|_, asked| {
        match asked.method.as_str() {
        "GET" => Answer::Is(
            200,
            r#"{"metadata":{"continue":"t","remainingItemCount":3},"items":[{"metadata":{"name":"a"}}]}"#
                .to_owned(),
        ),
        _ => Answer::Is(200, r#"{"kind":"Status","status":"Success"}"#.to_owned()),
    }
    });
    let executor = executor(&api);
    let items = vec![
        Read::list(ReplicaSet::KIND, "shop", 10).into(),
        Write::delete_collection(ReplicaSet::KIND, "shop")
            .propagating(Propagation::Background)
            .into(),
    ];
    let answers = executor
        .run(&Actions::in_order("all", items))
        .await
        .unwrap();
    let [Got::Listed(listing), Got::Done(_)] = &answers[..] else {
        panic!("{answers:?}")
    };
    assert_eq!(listing.count(), 4);
    let path = "/apis/apps/v1/namespaces/shop/replicasets";
    let lines: Vec<String> = api.asks().iter().map(Asked::line).collect();
    assert_eq!(
        lines,
        [format!("GET {path}?limit=10"), format!("DELETE {path}")]
    );
    assert_eq!(api.asks()[1].json()["propagationPolicy"], "Background");
}

#[tokio::test(start_paused = true)]
async fn what_the_server_has_is_asked_for_once_by_all_who_ask_at_a_time() {
    let api = Api::new(|_, _| Answer::Is(200, r#"{"items":[]}"#.to_owned()));
    let executor = executor(&api);
    let second = Duration::from_secs(1);
    let discover = || Read::discovery().not_older_than(second).into();
    let both = Actions::together("discover", vec![discover(), discover()]);
    let answers = executor.run(&both).await.unwrap();
    assert!(matches!(
        &answers[..],
        [Got::Discovered(_), Got::Discovered(_)]
    ));
    assert_eq!(api.asks().len(), 2, "/api and /apis");
    pass(Duration::from_secs(2)).await;
    executor.run(&both).await.unwrap();
    assert_eq!(api.asks().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_a_whole_kind_is_shared_by_all_who_ask_at_a_time() {
    let empty = || Answer::Is(200, r#"{"metadata":{},"items":[]}"#.to_owned());
    let all = || Read::list(ReplicaSet::KIND, "", 100);
    let survey = || all().not_older_than(Duration::from_secs(1)).into();
    for fails in [false, true] {
        let api = Api::new(move |_, _| match fails {
            false => empty(),
            true => status(500, "InternalError"),
        });
        let executor = executor(&api);
        let both = Actions::together("anywhere", vec![survey(), survey()]);
        for round in 1..=2 {
            let answers = executor.run(&both).await.unwrap();
            let as_wanted = |answer: &Got| match answer {
                Got::Listed(all) => !fails && all.is_empty(),
                answer => fails && answer.error().is_some(),
            };
            assert!(answers.iter().all(as_wanted), "{answers:?}");
            let lines: Vec<String> = api.asks().iter().map(Asked::line).collect();
            assert_eq!(
                lines,
                vec!["GET /apis/apps/v1/replicasets?limit=100"; round]
            );
            pass(Duration::from_secs(2)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_shared_read_that_is_given_up_leaves_no_sync_waiting() {
    let api = Api::new(|before, _| match before {
        0 => Answer::Never,
        _ => Answer::Is(200, r#"{"metadata":{},"items":[]}"#.to_owned()),
    });
    let executor = Arc::new(executor(&api));
    let survey = Read::list(ReplicaSet::KIND, "", 100).not_older_than(Duration::from_secs(1));
    let actions = Arc::new(Actions::in_order("anywhere", vec![survey.into()]));
    let ask = || {
        let (executor, actions) = (executor.clone(), actions.clone());
        tokio::spawn(async move { executor.run(&actions).await.unwrap() })
    };
    let first = ask();
    api.until(|_| true).await;
    let second = ask();
    pass(Duration::from_secs(1)).await;
    assert!(!second.is_finished());
    first.abort();
    let answers = timeout(Duration::from_secs(1), second).await;
    let answers = answers.expect("it waits for ever").unwrap();
    assert!(answers[0].error().is_some(), "{answers:?}");
    pass(Duration::from_secs(2)).await;
    assert_eq!(kinds(&ask().await.unwrap()), "r");
}
