//! What is answered to whom, by method, path and `Accept` header; compared with kube-apiserver v1.36.4.

use serde_json::{Value, json};

use super::{MAPS, Server, map};
use crate::{Answer, Layout, Media, Method, Polled, Reply};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

fn answered(server: &mut Server, method: Method, target: &str, accept: &str) -> Option<Answer> {
    let content_type = match method {
        Method::Patch => "application/merge-patch+json",
        _ => "",
    };
    match server.reply_to(method, target, content_type, accept, b"{}") {
        Reply::Answer(answer) => Some(answer),
        Reply::List(list) => Some(list.render()),
        Reply::Page => None,
        Reply::Watch(_) => panic!("{target}"),
    }
}

#[test]
fn methods_that_mean_nothing_are_refused() {
    let mut server = Server::new();
    let object = "/api/v1/namespaces/default";
    for (method, target, code) in [
        (Method::Head, object, 405),
        (Method::Options, object, 405),
        (Method::Other, object, 405),
        (Method::Post, object, 405),
        (Method::Head, "/api/v1/namespaces", 405),
        (Method::Head, "/version", 405),
        (Method::Post, "/version", 405),
        (Method::Post, "/api", 405),
        (Method::Post, "/apis/apps/v1", 405),
        // The aggregator of upstream does not look at the method.
        (Method::Post, "/apis", 200),
        (Method::Delete, "/apis/apps", 200),
        (Method::Get, "/version/", 200),
    ] {
        let answer = answered(&mut server, method, target, "").unwrap();
        assert_eq!(answer.code, code, "{method:?} {target}");
    }
}

#[test]
fn what_is_not_there_is_missed_by_whoever_would_have_it() {
    let mut server = Server::new();
    for (target, in_group) in [
        ("/nothing", false),
        ("/apis/nothing", false),
        ("/apis/nothing/v1", false),
        ("/apis/nothing/v1/things", false),
        ("/healthz", false),
        ("/", false),
        ("//api/v1/namespaces/default", false),
        ("/apis/apps/v9", true),
        ("/api/v9", true),
        ("/api/v1/nothings", true),
        ("/apis/apps/v9/deployments", true),
    ] {
        let answer = answered(&mut server, Method::Get, target, "");
        assert_eq!(
            answer.map(|one| one.code),
            in_group.then_some(404),
            "{target}"
        );
    }
}

#[test]
fn refusals_are_written_in_what_is_accepted() {
    let mut server = Server::new();
    let missing = "/api/v1/namespaces/nix";
    let in_json = Layout::Asked {
        media: Media::Json,
        indented: false,
    };
    let in_yaml = Layout::Asked {
        media: Media::Yaml,
        indented: false,
    };
    let in_protobuf = Layout::Asked {
        media: Media::Protobuf,
        indented: false,
    };
    for (accept, code, layout) in [
        ("", 404, in_json),
        ("application/yaml", 404, in_yaml),
        // Nobody can have a table of a refusal: then it is for people.
        (
            "application/json;as=Table;g=meta.k8s.io;v=v1",
            404,
            Layout::Fixed,
        ),
        (
            "application/json;as=Foo;g=meta.k8s.io;v=v1",
            406,
            Layout::Fixed,
        ),
        (PROTOBUF, 404, in_protobuf),
        ("text/html", 406, Layout::Fixed),
        ("application/*", 406, in_json),
    ] {
        let answer = answered(&mut server, Method::Get, missing, accept).unwrap();
        assert_eq!((answer.code, answer.layout), (code, layout), "{accept}");
    }
}

#[test]
fn what_is_refused_late_is_written_in_what_is_accepted_too() {
    let mut server = Server::new();
    let partial = format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    let missing = format!("{MAPS}/nix");
    let answer = answered(&mut server, Method::Delete, &missing, &partial).unwrap();
    assert_eq!((answer.code, answer.layout), (404, Layout::Fixed));
    server.post(MAPS, &map("a"));
    let list = format!("{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, {PROTOBUF}");
    let there = format!("{MAPS}/a");
    let answer = answered(&mut server, Method::Patch, &there, &list).unwrap();
    assert_eq!((answer.code, answer.is_converted()), (406, true));
}

#[test]
fn what_rows_carry_matters_to_tables_only() {
    let mut server = Server::new();
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    for target in [MAPS.to_owned(), format!("{MAPS}?watch=1")] {
        let mark = if target == MAPS { '?' } else { '&' };
        let target = format!("{target}{mark}includeObject=Odd");
        let reply = server.reply_to(Method::Get, &target, "", PROTOBUF, b"");
        assert!(
            matches!(reply, Reply::List(_) | Reply::Watch(_)),
            "{target}"
        );
        let reply = server.reply_to(Method::Get, &target, "", table, b"");
        assert!(
            matches!(reply, Reply::Answer(answer) if answer.code == 400),
            "{target}"
        );
    }
}

#[test]
fn discovery_knows_no_version_of_the_server() {
    let mut server = Server::new();
    for (target, code) in [("/api", 406), ("/apis", 406), (MAPS, 200)] {
        let answer = answered(&mut server, Method::Get, target, "application/json;sv=v1");
        assert_eq!(answer.unwrap().code, code, "{target}");
    }
}

#[test]
fn a_patch_must_be_of_a_known_kind_before_anything_else() {
    let mut server = Server::new();
    for content_type in ["", "application/json", "application/apply-patch+cbor"] {
        let target = "/api/v1/namespaces/nix";
        let reply = server.reply_to(Method::Patch, target, content_type, "", b"{}");
        let Reply::Answer(answer) = reply else {
            panic!("{content_type}");
        };
        assert_eq!(answer.code, 415);
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(
            body.contains("\"message\":\"415: Unsupported Media Type\""),
            "{body}"
        );
    }
}

#[test]
fn clients_are_told_where_the_server_is() {
    let mut server = Server::new();
    server.registry.tell_address("127.0.0.1:6443".to_owned());
    let (_, document) = server.get("/api");
    let address = &document["serverAddressByClientCIDRs"][0]["serverAddress"];
    assert_eq!(address, "127.0.0.1:6443");
}

#[test]
fn a_scale_is_shown_in_columns_of_its_own() {
    let mut server = Server::new();
    let app = serde_json::json!({"app": "web"});
    let deployment = serde_json::json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": app},
            "template": {
                "metadata": {"labels": app},
                "spec": {"containers": [{"name": "app", "image": "app"}]},
            },
        },
    });
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    assert_eq!(server.post(deployments, &deployment).0, 201);
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let scale = format!("{deployments}/web/scale");
    let answer = answered(&mut server, Method::Get, &scale, table).unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let columns = shown["columnDefinitions"].as_array().unwrap();
    let names: Vec<_> = columns.iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["Name", "Desired", "Available", "Age"]);
    assert_eq!(shown["rows"][0]["cells"][1], 3);
}

#[test]
fn schemas_are_given_in_the_form_that_is_asked_for() {
    let mut server = Server::new();
    let json = "application/json";
    let asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    let third = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
    for (path, accept, wanted) in [
        ("/openapi/v2", "", Some(json)),
        ("/openapi/v2", json, Some(json)),
        ("/openapi/v2", "*/*", Some(json)),
        ("/openapi/v2", asked, Some(protobuf)),
        ("/openapi/v2", protobuf, Some(protobuf)),
        (
            "/openapi/v2",
            "application/json;q=0.5, application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
            Some(protobuf),
        ),
        ("/openapi/v2", "text/html", None),
        ("/openapi/v3/api/v1", json, Some(json)),
        ("/openapi/v3/api/v1", third, None),
    ] {
        let answer = answered(&mut server, Method::Get, path, accept).unwrap();
        let code = if wanted.is_some() { 200 } else { 406 };
        assert_eq!(answer.code, code, "{path} as {accept}");
        if let Some(wanted) = wanted {
            assert_eq!(answer.content_type, wanted, "{path} as {accept}");
        }
    }
}

#[test]
fn lists_in_protobuf_say_what_those_in_json_say() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    server.post(MAPS, &map("b"));
    let partial = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    for (target, shown) in [
        (format!("{MAPS}?limit=1"), ""),
        (MAPS.to_owned(), partial),
        ("/api/v1/namespaces".to_owned(), ""),
        ("/api/v1/pods".to_owned(), ""),
        (
            "/apis/autoscaling/v1/horizontalpodautoscalers".to_owned(),
            "",
        ),
    ] {
        let protobuf = format!("{PROTOBUF}{shown}");
        let one = answered(&mut server, Method::Get, &target, &protobuf).unwrap();
        assert_eq!(
            (one.code, one.content_type, one.layout),
            (200, PROTOBUF, Layout::Fixed)
        );
        let json = format!("application/json{shown}");
        let other = answered(&mut server, Method::Get, &target, &json).unwrap();
        let mut said: Value = serde_json::from_slice(&other.body).unwrap();
        let read = flyball_protobuf::decode(&one.body).unwrap();
        assert_eq!(
            flyball_protobuf::encode(&said).unwrap(),
            one.body,
            "{target}"
        );
        // Messages do not tell an empty list from none, and say once what their items are.
        for item in said["items"].as_array_mut().into_iter().flatten() {
            let item = item.as_object_mut().unwrap();
            item.retain(|name, _| !matches!(name.as_str(), "kind" | "apiVersion"));
        }
        if said["items"] == json!([]) {
            said.as_object_mut().unwrap().remove("items");
        }
        assert_eq!(read, said, "{target}");
    }
}

#[test]
fn watches_in_protobuf_say_what_those_in_json_say() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let streamed = format!(
        "{MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let partial = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    for (accept, content_type) in [
        ("application/json".to_owned(), "application/json"),
        (
            PROTOBUF.to_owned(),
            "application/vnd.kubernetes.protobuf;stream=watch",
        ),
        (
            format!("{PROTOBUF}{partial}"),
            "application/vnd.kubernetes.protobuf;stream=watch",
        ),
    ] {
        let reply = server.reply_to(Method::Get, &streamed, "", &accept, b"");
        let Reply::Watch(mut watch) = reply else {
            panic!("{accept}");
        };
        assert_eq!(watch.content_type(), content_type);
        let lines = server.lines(&mut watch);
        assert_eq!(lines.len(), 2);
        let text: Vec<u8> = lines
            .iter()
            .flat_map(|line| format!("{line}\n").into_bytes())
            .collect();
        let written = watch.written(text.clone());
        if content_type == "application/json" {
            assert_eq!(written, text);
            continue;
        }
        let mut rest = written.as_slice();
        for line in &lines {
            let event = flyball_protobuf::decode_event(rest).unwrap().unwrap();
            assert_eq!(event.kind, line["type"].as_str().unwrap());
            assert_eq!(event.object, line["object"]);
            rest = event.rest;
        }
        assert_eq!(rest, b"");
    }
}

#[test]
fn a_change_that_protobuf_cannot_say_is_told_as_a_refusal() {
    let mut server = Server::new();
    let target = format!("{MAPS}?watch=1");
    let Reply::Watch(watch) = server.reply_to(Method::Get, &target, "", PROTOBUF, b"") else {
        panic!("{target}");
    };
    let line =
        json!({"type": "ADDED", "object": {"kind": "Widget", "apiVersion": "example.com/v1"}});
    let written = watch.written(format!("{line}\n").into_bytes());
    let event = flyball_protobuf::decode_event(&written).unwrap().unwrap();
    assert_eq!((event.kind, &event.object["code"]), ("ERROR", &json!(406)));
}

#[test]
fn an_object_is_no_list_of_metadata_so_a_watch_for_such_ends_with_the_first() {
    let mut server = Server::new();
    let target = format!("{MAPS}?watch=1");
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let Reply::Watch(mut watch) = server.reply_to(Method::Get, &target, "", accept, b"") else {
        panic!("{target}");
    };
    let mut out = Vec::new();
    let mut poll = |server: &Server, out: &mut Vec<u8>| {
        let through = server.registry.revision();
        server
            .registry
            .poll(&mut watch, through, server.now, out, 1 << 10)
    };
    assert_eq!(poll(&server, &mut out), Polled::Idle);
    server.post(MAPS, &map("a"));
    assert_eq!(poll(&server, &mut out), Polled::Ended);
    assert_eq!(out, b"");
}
