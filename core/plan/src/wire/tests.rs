use flyball_api::request::Method;
use flyball_api::views::{Node, Pod, ReplicaSet};
use flyball_api::{Kind, LeanMeta, ObjectName};
use serde_json::{Value, json};

use super::*;
use crate::{Body, Listed, Propagation, Record, RecordKind, Subresource};

const SETS: &str = "/apis/apps/v1/namespaces/shop/replicasets";
const SET: &str = "/apis/apps/v1/namespaces/shop/replicasets/web";
const POD: &str = "/api/v1/namespaces/shop/pods/web";

fn meta() -> LeanMeta {
    LeanMeta {
        name: "web".into(),
        namespace: "shop".into(),
        uid: Uid::new("u-1"),
        resource_version: "7".into(),
        ..LeanMeta::default()
    }
}

fn set() -> Target {
    Target::of(ReplicaSet::KIND, &meta())
}

fn pod() -> Target {
    Target::of(Pod::KIND, &meta())
}

fn incarnation() -> Precondition {
    Precondition::incarnation(&meta())
}

fn unchanged() -> Precondition {
    Precondition::unchanged(&meta())
}

/// What the answer to a request may be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Whole,
    Metadata,
    MetadataList,
}

fn form(request: &Request) -> Form {
    match request.accept() {
        "application/json" => Form::Whole,
        list if list.contains("PartialObjectMetadataList") => Form::MetadataList,
        _ => Form::Metadata,
    }
}

/// Method, path, body (null if there is none) and the form of the answer.
fn sent(action: impl Into<Action>) -> (Method, String, Value, Form) {
    let request = request_of(&action.into()).expect("a request");
    let body = match request.body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&request.body).expect("JSON"),
    };
    let form = form(&request);
    (request.method, request.path, body, form)
}

fn whole_of(path: &str) -> (Method, String, Value, Form) {
    (Method::Get, path.to_owned(), Value::Null, Form::Whole)
}

fn done(action: impl Into<Action>, body: &[u8]) -> Written {
    match answer_of(&action.into(), body) {
        Answer::Done(written) => written,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_create_is_posted_to_the_collection_and_answered_with_metadata() {
    let body = json!({"metadata": {"generateName": "web-"}});
    let create = Write::create(Pod::KIND, "shop", Body::of(&body));
    let path = "/api/v1/namespaces/shop/pods".to_owned();
    assert_eq!(sent(create), (Method::Post, path, body, Form::Metadata));
    let (_, path, ..) = sent(Write::create(Node::KIND, "", Body::new("{}")));
    assert_eq!(path, "/api/v1/nodes");
}

#[test]
fn each_patch_is_sent_in_its_own_way_with_its_precondition() {
    let change = json!({"spec": {"replicas": 2}});
    let body = json!({"metadata": {"uid": "u-1"}, "spec": {"replicas": 2}});
    let strategic = Write::patch(set(), incarnation(), change.clone());
    let expected = (
        Method::StrategicPatch,
        SET.to_owned(),
        body.clone(),
        Form::Metadata,
    );
    assert_eq!(sent(strategic), expected);
    let merge = Write::merge(set(), incarnation(), change);
    let expected = (Method::MergePatch, SET.to_owned(), body, Form::Metadata);
    assert_eq!(sent(merge), expected);
}

#[test]
fn an_update_puts_its_body_as_it_is() {
    let body = json!({"metadata": {"uid": "u-1", "resourceVersion": "7"}, "status": {}});
    let update = || Write::update(set(), unchanged(), Body::of(&body));
    let expected = (Method::Put, SET.to_owned(), body.clone(), Form::Metadata);
    assert_eq!(sent(update()), expected);
    for (subresource, path) in [
        (Subresource::STATUS, format!("{SET}/status")),
        (Subresource::FINALIZE, format!("{SET}/finalize")),
        (Subresource::SCALE, format!("{SET}/scale")),
        (Subresource("approval"), format!("{SET}/approval")),
    ] {
        let expected = (Method::Put, path, body.clone(), Form::Metadata);
        assert_eq!(sent(update().to_subresource(subresource)), expected);
    }
}

#[test]
fn an_apply_says_in_its_query_who_manages_the_fields() {
    let body = json!({"metadata": {"uid": "u-1"}, "spec": {"replicas": 2}});
    for (manager, force, query) in [
        ("flyball", false, "fieldManager=flyball&force=false"),
        ("a b/c&d", true, "fieldManager=a%20b%2Fc%26d&force=true"),
    ] {
        let verb = Verb::Apply { manager, force };
        let apply = || Write::new(verb, set(), incarnation(), Body::of(&body));
        let expected = |path: &str| {
            let path = format!("{path}?{query}");
            (Method::ApplyPatch, path, body.clone(), Form::Metadata)
        };
        assert_eq!(sent(apply()), expected(SET));
        let status = apply().to_subresource(Subresource::STATUS);
        assert_eq!(sent(status), expected(&format!("{SET}/status")));
    }
    assert_eq!(
        Method::ApplyPatch.content_type(),
        "application/apply-patch+yaml"
    );
}

#[test]
fn a_delete_says_all_it_demands_in_its_options_and_may_be_answered_by_a_status() {
    let options = |more: Value| {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        let fields = more.as_object().expect("an object").clone();
        options.as_object_mut().expect("an object").extend(fields);
        options
    };
    let cases = [
        (
            Write::delete(Pod::KIND, &meta()),
            json!({"preconditions": {"uid": "u-1"}}),
        ),
        (
            Write::delete_if(pod(), unchanged()).within(0),
            json!({"preconditions": {"uid": "u-1", "resourceVersion": "7"},
                "gracePeriodSeconds": 0}),
        ),
        (
            Write::delete(Pod::KIND, &meta()).propagating(Propagation::Foreground),
            json!({"preconditions": {"uid": "u-1"}, "propagationPolicy": "Foreground"}),
        ),
        (Write::delete_if(pod(), Precondition::default()), json!({})),
    ];
    for (delete, more) in cases {
        let expected = (Method::Delete, POD.to_owned(), options(more), Form::Whole);
        assert_eq!(sent(delete), expected);
    }
    let all = Write::delete_collection(ReplicaSet::KIND, "shop");
    let all = all.propagating(Propagation::Background);
    let body = options(json!({"propagationPolicy": "Background"}));
    let expected = (Method::Delete, SETS.to_owned(), body, Form::MetadataList);
    assert_eq!(sent(all), expected);
}

#[test]
fn a_post_to_a_subresource_goes_to_the_object_and_may_be_answered_by_a_status() {
    let body = json!({
        "apiVersion": "v1", "kind": "Binding",
        "metadata": {"namespace": "shop", "name": "web", "uid": "u-1", "resourceVersion": "7"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
    });
    let bind = Write::bind(pod(), unchanged(), "node-1");
    let expected = (Method::Post, format!("{POD}/binding"), body, Form::Whole);
    assert_eq!(sent(bind), expected);

    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"uid": "u-1"}});
    let evict = Write::new(Verb::Create, pod(), incarnation(), Body::of(&body))
        .to_subresource(Subresource::EVICTION);
    let expected = (Method::Post, format!("{POD}/eviction"), body, Form::Whole);
    assert_eq!(sent(evict.clone()), expected);

    let status = br#"{"kind":"Status","status":"Success","metadata":{}}"#;
    let evicted = done(evict, status);
    assert_eq!((&*evicted.name, &evicted.uid), ("web", &meta().uid));
    assert_eq!((&*evicted.resource_version, evicted.object), ("", None));
}

#[test]
fn what_a_write_left_behind_is_read_from_its_metadata() {
    let body = br#"{"metadata":{"name":"web-x","uid":"u-2","resourceVersion":"9"},"spec":{}}"#;
    let written = Written {
        name: "web-x".into(),
        uid: Uid::new("u-2"),
        resource_version: "9".into(),
        object: None,
    };
    let apply = Verb::Apply {
        manager: "flyball",
        force: false,
    };
    let writes = [
        Write::create(Pod::KIND, "shop", Body::new("{}")),
        Write::patch(set(), incarnation(), json!({})),
        Write::merge(set(), incarnation(), json!({})),
        Write::update(set(), unchanged(), Body::new("{}")),
        Write::new(apply, set(), incarnation(), Body::new("{}")),
    ];
    for write in writes {
        assert_eq!(done(write.clone(), body), written, "{write:?}");
        assert_eq!(done(write, b"<html>"), Written::default());
    }
    // The version that a deleted object is answered with is not one that the caches reach.
    let deleted = done(Write::delete(Pod::KIND, &meta()), body);
    assert_eq!((&*deleted.name, &deleted.uid), ("web", &meta().uid));
    assert_eq!(&*deleted.resource_version, "");
    let all = Write::delete_collection(Pod::KIND, "shop");
    assert_eq!(done(all, body), Written::default());
}

#[test]
fn a_create_wanted_whole_is_answered_with_the_object() {
    const REVIEWS: Kind = Kind::cluster(
        "authorization.k8s.io",
        "v1",
        "SubjectAccessReview",
        "subjectaccessreviews",
    );
    let body = json!({"spec": {"user": "jane"}});
    let review = Write::create(REVIEWS, "", Body::of(&body)).wanting_whole();
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews".to_owned();
    let expected = (Method::Post, path, body, Form::Whole);
    assert_eq!(sent(review.clone()), expected);

    // Reviews have no name.
    let answer = br#"{"metadata":{},"status":{"allowed":true}}"#;
    let written = done(review.clone(), answer);
    assert_eq!((&*written.name, &*written.resource_version), ("", ""));
    let object = written.object.expect("the review");
    let object: Value = serde_json::from_str(object.json()).expect("JSON");
    assert_eq!(object["status"]["allowed"], true);
    assert_eq!(done(review, b"<html>"), Written::default());
}

#[test]
fn a_scale_wanted_whole_tells_its_version_and_itself() {
    let scale = Write::update(set(), unchanged(), Body::new("{}"))
        .to_subresource(Subresource::SCALE)
        .wanting_whole();
    let (_, path, _, form) = sent(scale.clone());
    assert_eq!((path, form), (format!("{SET}/scale"), Form::Whole));
    let answer = br#"{"kind":"Scale","metadata":{"name":"web","resourceVersion":"9"}}"#;
    let written = done(scale, answer);
    assert_eq!(&*written.resource_version, "9");
    assert!(written.object.is_some());
}

#[test]
fn a_read_of_an_object_is_a_get_of_all_or_a_part_of_it() {
    assert_eq!(sent(Read::get(set())), whole_of(SET));
    let get = |subresource, want| {
        Read::of(Question::Get {
            target: set(),
            subresource,
            want,
        })
    };
    let scale = get(Subresource::SCALE, Want::Whole);
    assert_eq!(sent(scale), whole_of(&format!("{SET}/scale")));
    let metadata = (Method::Get, SET.to_owned(), Value::Null, Form::Metadata);
    assert_eq!(sent(get(Subresource::NONE, Want::Metadata)), metadata);
    assert_eq!(sent(Read::exists(set(), Uid::new("u-1"))), metadata);

    let read = Read::get(set()).into();
    let Answer::Read(object) = answer_of(&read, br#"{"metadata":{"name":"web"}}"#) else {
        panic!("not read")
    };
    assert_eq!(object.json(), r#"{"metadata":{"name":"web"}}"#);
    for body in [&b"<html>"[..], b"\xff"] {
        let answer = answer_of(&read, body);
        let error = answer.error().expect("a failure").to_string();
        assert!(error.contains("cannot read"), "{error}");
        assert!(error.contains(&ReplicaSet::KIND.to_string()), "{error}");
    }
}

#[test]
fn a_read_of_a_path_escapes_the_values_of_its_query() {
    let get = |query| {
        let path = "/apis/metrics.k8s.io/v1beta1/pods".to_owned();
        Read::of(Question::Path { path, query })
    };
    let query = vec![
        ("labelSelector", "app in (a,b),tier=web/ü".to_owned()),
        ("limit", "5".to_owned()),
        ("plain", "a-b.c_d~e".to_owned()),
    ];
    let expected = "/apis/metrics.k8s.io/v1beta1/pods?labelSelector=app%20in%20%28a%2Cb%29%2C\
                    tier%3Dweb%2F%C3%BC&limit=5&plain=a-b.c_d~e";
    assert_eq!(sent(get(query)), whole_of(expected));
    let bare = get(Vec::new());
    assert_eq!(
        sent(bare.clone()),
        whole_of("/apis/metrics.k8s.io/v1beta1/pods")
    );
    let answer = answer_of(&bare.into(), b"");
    let error = answer.error().expect("a failure").to_string();
    assert!(error.contains("/apis/metrics.k8s.io"), "{error}");
}

#[test]
fn a_list_is_of_metadata_or_of_whole_objects() {
    let body = br#"{"metadata":{"continue":"t","remainingItemCount":2},"items":[
        {"metadata":{"namespace":"shop","name":"a","uid":"1"},"spec":{"replicas":3}}]}"#;
    let listed = |read: Read| match answer_of(&read.into(), body) {
        Answer::Listed(listing) => listing,
        other => panic!("{other:?}"),
    };
    let metadata = Read::list(ReplicaSet::KIND, "shop", 10);
    let path = format!("{SETS}?limit=10");
    let expected = (Method::Get, path.clone(), Value::Null, Form::MetadataList);
    assert_eq!(sent(metadata.clone()), expected);
    let (_, everywhere, ..) = sent(Read::list(ReplicaSet::KIND, "", 10));
    assert_eq!(everywhere, "/apis/apps/v1/replicasets?limit=10");
    let a = Listed {
        namespace: "shop".into(),
        name: "a".into(),
        uid: Uid::new("1"),
        ..Listed::default()
    };
    let listing = listed(metadata);
    assert_eq!((&listing.items[..], listing.more), (&[a.clone()][..], 2));

    let whole = Read::of(Question::List {
        kind: ReplicaSet::KIND,
        namespace: "shop".into(),
        items_max: 10,
        want: Want::Whole,
    });
    assert_eq!(sent(whole.clone()), whole_of(&path));
    let listing = listed(whole.clone());
    let object = listing.items[0].object.clone().expect("the object");
    let read: Value = serde_json::from_str(object.json()).expect("JSON");
    assert_eq!(read["spec"]["replicas"], 3);
    let object = Some(object);
    assert_eq!(listing.items[..], [Listed { object, ..a }]);
    assert_eq!(listing.count(), 3);

    let answer = answer_of(&whole.into(), b"{}");
    let error = answer.error().expect("a failure").to_string();
    assert!(error.contains("cannot read"), "{error}");
}

#[test]
fn a_record_and_a_discovery_are_no_requests() {
    assert!(request_of(&Read::discovery().into()).is_none());
    let record: Action = Record::on(
        ReplicaSet::KIND,
        &meta(),
        RecordKind::Normal,
        "Because",
        "so",
    )
    .into();
    assert!(request_of(&record).is_none());
    assert_eq!(done(record, b""), Written::default());
}

#[test]
fn names_are_put_into_paths_as_they_are() {
    let target = Target {
        kind: Node::KIND,
        name: ObjectName::new("", "node-1"),
    };
    assert_eq!(sent(Read::get(target)), whole_of("/api/v1/nodes/node-1"));
}
