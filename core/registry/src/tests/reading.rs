use super::*;

fn filled(count: usize) -> Server {
    let mut server = Server::new();
    for at in 0..count {
        let mut one = map(&format!("m{at:02}"));
        one["metadata"]["labels"] = json!({"even": (at % 2 == 0).to_string()});
        server.post(MAPS, &one);
    }
    server
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect()
}

#[test]
fn pages_together_are_one_state() {
    let mut server = filled(5);
    let (_, first) = server.get(&format!("{MAPS}?limit=2"));
    assert_eq!(names(&first), ["m00", "m01"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    server.delete(&format!("{MAPS}/m03"), &Value::Null);
    let go_on = first["metadata"]["continue"].as_str().unwrap();
    let (_, second) = server.get(&format!("{MAPS}?limit=2&continue={go_on}"));
    assert_eq!(names(&second), ["m02", "m03"]);
    let go_on = second["metadata"]["continue"].as_str().unwrap();
    let (_, third) = server.get(&format!("{MAPS}?limit=2&continue={go_on}"));
    assert_eq!(names(&third), ["m04"]);
    assert_eq!(third["metadata"]["continue"], Value::Null);
    assert_eq!(server.get(&format!("{MAPS}?continue=odd")).0, 400);
}

#[test]
fn selectors_choose() {
    let mut server = filled(4);
    let (_, even) = server.get(&format!("{MAPS}?labelSelector=even=true"));
    assert_eq!(names(&even), ["m00", "m02"]);
    let (_, paged) = server.get(&format!("{MAPS}?labelSelector=even=false&limit=1"));
    assert_eq!(names(&paged), ["m01"]);
    assert!(paged["metadata"]["continue"].is_string());
    let (_, one) = server.get(&format!("{MAPS}?fieldSelector=metadata.name=m03"));
    assert_eq!(names(&one), ["m03"]);
    let (code, refused) = server.get(&format!("{MAPS}?fieldSelector=data.a=1"));
    assert_eq!(code, 400);
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("\"data.a\" is not a known field selector")
    );
}

#[test]
fn a_list_is_read_at_the_version_that_is_asked_for() {
    let mut server = filled(1);
    let then = server.registry.revision().0;
    server.delete(&format!("{MAPS}/m00"), &Value::Null);
    let exact = format!("{MAPS}?resourceVersion={then}&resourceVersionMatch=Exact");
    assert_eq!(names(&server.get(&exact).1), ["m00"]);
    assert_eq!(
        names(&server.get(&format!("{MAPS}?resourceVersion={then}")).1),
        [""; 0]
    );
    let (code, refused) = server.get(&format!("{MAPS}?resourceVersion={}", then + 100));
    assert_eq!((code, refused["reason"].as_str()), (504, Some("Timeout")));
    assert_eq!(
        refused["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
}

#[test]
fn paths_that_lead_nowhere_say_so() {
    let mut server = filled(0);
    assert_eq!(server.get("/apis/apps/v1/things").0, 404);
    assert_eq!(
        server.get("/api/v1/namespaces/default/pods/a/nothing").0,
        404
    );
    assert_eq!(server.post("/api/v1/configmaps", &map("a")).0, 405);
    assert_eq!(server.get(&format!("{MAPS}/none")).0, 404);
}

#[test]
fn a_selector_of_a_namespace_ends_a_list_with_it() {
    let mut server = Server::new();
    for namespace in ["default", "kube-system"] {
        let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
        server.post(&maps, &map("a"));
    }
    let page = |server: &mut Server, selector: &str| {
        let target = format!("/api/v1/configmaps?limit=1&fieldSelector={selector}");
        server.get(&target).1["metadata"]["continue"].is_string()
    };
    assert!(page(&mut server, "metadata.namespace!=kube-system"));
    assert!(!page(&mut server, "metadata.namespace=default"));
    assert!(!page(&mut server, "metadata.namespace=kube-system"));
}
