use serde_json::{Value, json};

use crate::tests::Server;

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

fn addresses(server: &mut Server) -> Vec<String> {
    let (_, list) = server.get("/apis/networking.k8s.io/v1/ipaddresses");
    let items = list["items"].as_array().unwrap().iter();
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    items.map(name).collect()
}

#[test]
fn the_api_server_has_a_service_from_the_start() {
    let mut server = Server::new();
    let (code, service) = server.get(&format!("{SERVICES}/kubernetes"));
    assert_eq!(
        (code, &service["spec"]["clusterIP"]),
        (200, &json!("10.96.0.1"))
    );
    assert_eq!(addresses(&mut server), ["10.96.0.1"]);
    let (code, range) = server.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes");
    assert_eq!(
        (code, &range["spec"]["cidrs"]),
        (200, &json!(["10.96.0.0/12"]))
    );
    assert_eq!(range["status"]["conditions"][0]["status"], "True");
}

#[test]
fn an_address_comes_and_goes_with_its_service() {
    let mut server = Server::new();
    let (code, made) = server.post(SERVICES, &service("a", &json!({"ports": [{"port": 80}]})));
    assert_eq!(code, 201, "{made}");
    let ip = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    assert_eq!(made["spec"]["clusterIPs"], json!([ip]));
    assert_eq!(made["spec"]["ipFamilies"], json!(["IPv4"]));
    assert_eq!(made["spec"]["ipFamilyPolicy"], "SingleStack");
    let (code, object) = server.get(&format!("/apis/networking.k8s.io/v1/ipaddresses/{ip}"));
    assert_eq!(code, 200);
    assert_eq!(object["spec"]["parentRef"]["name"], "a");
    let same = json!({"ports": [{"port": 80}], "clusterIP": ip});
    let (code, refused) = server.post(SERVICES, &service("b", &same));
    assert_eq!(code, 422);
    assert_eq!(
        refused["message"],
        format!(
            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"{ip}\"]: failed to allocate IP {ip}: \
             provided IP is already allocated"
        )
    );
    assert_eq!(server.delete(&format!("{SERVICES}/a"), &Value::Null).0, 200);
    assert_eq!(addresses(&mut server), ["10.96.0.1"]);
    assert_eq!(server.post(SERVICES, &service("b", &same)).0, 201);
}

#[test]
fn what_is_taken_is_known_after_a_restart() {
    let mut server = Server::new();
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30123}]});
    assert_eq!(server.post(SERVICES, &service("a", &spec)).0, 201);
    server.restart();
    let (code, refused) = server.post(SERVICES, &service("b", &spec));
    assert_eq!(code, 422);
    assert_eq!(
        refused["message"],
        "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30123: provided port is already allocated"
    );
    assert_eq!(server.delete(&format!("{SERVICES}/a"), &Value::Null).0, 200);
    assert_eq!(server.post(SERVICES, &service("b", &spec)).0, 201);
}

#[test]
fn a_dry_run_takes_nothing() {
    let mut server = Server::new();
    let spec = json!({"type": "NodePort", "ports": [{"port": 80}]});
    let all = format!("{SERVICES}?dryRun=All");
    let (code, made) = server.post(&all, &service("a", &spec));
    assert_eq!(
        (code, &made["spec"]["clusterIP"]),
        (201, &json!("10.96.0.0"))
    );
    assert_eq!(made["spec"]["ports"][0]["nodePort"], 32_769);
    assert_eq!(addresses(&mut server), ["10.96.0.1"]);
}

#[test]
fn a_change_of_type_takes_and_frees() {
    let mut server = Server::new();
    let at = format!("{SERVICES}/a");
    let spec = json!({"type": "ExternalName", "externalName": "example.com"});
    let (code, made) = server.post(SERVICES, &service("a", &spec));
    assert_eq!(code, 201, "{made}");
    assert_eq!(addresses(&mut server).len(), 1);
    let change =
        json!({"spec": {"type": "NodePort", "ports": [{"port": 80}], "externalName": null}});
    let (code, changed) = server.patch(&at, "merge-patch", &change);
    assert_eq!(code, 200, "{changed}");
    assert_eq!(addresses(&mut server).len(), 2);
    assert!(changed["spec"]["ports"][0]["nodePort"].as_i64().unwrap() >= 30_000);
    let change = json!({"spec": {"type": "ClusterIP"}});
    let (code, changed) = server.patch(&at, "merge-patch", &change);
    assert_eq!(
        (code, &changed["spec"]["ports"][0]["nodePort"]),
        (200, &Value::Null)
    );
    let change = json!({"spec": {"type": "ExternalName", "externalName": "example.com"}});
    let (code, changed) = server.patch(&at, "merge-patch", &change);
    assert_eq!(
        (code, &changed["spec"]["clusterIP"]),
        (200, &Value::Null),
        "{changed}"
    );
    assert_eq!(addresses(&mut server).len(), 1);
}

#[test]
fn what_is_made_by_writing_its_status_must_have_what_it_needs() {
    let mut server = Server::new();
    let path = format!("{SERVICES}/a/status");
    for (ips, policy, fields) in [
        (json!(["None"]), "SingleStack", vec![]),
        (json!(["None"]), "odd", vec!["spec.ipFamilyPolicy"]),
        (
            Value::Null,
            "odd",
            vec!["spec.clusterIPs", "spec.ipFamilyPolicy"],
        ),
    ] {
        let spec = json!({"clusterIP": "None", "clusterIPs": ips, "ipFamilyPolicy": policy, "ports": [{"port": 80}]});
        let (code, told) = server.put(&format!("{path}?dryRun=All"), &service("a", &spec));
        let causes = told["details"]["causes"].as_array();
        let found: Vec<&Value> = causes
            .into_iter()
            .flatten()
            .map(|cause| &cause["field"])
            .collect();
        assert_eq!(found, fields, "{code} {told}");
    }
}

/// The object of an address.
fn address(server: &mut Server, ip: &str) -> Value {
    server
        .get(&format!("/apis/networking.k8s.io/v1/ipaddresses/{ip}"))
        .1
}

#[test]
fn a_service_made_by_writing_its_status_takes_no_address_or_port_of_another() {
    let mut server = Server::new();
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30_100}]});
    let (_, made) = server.post(SERVICES, &service("real", &spec));
    let ip = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    let thief = |ip: &str, node_port: i64| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "thief"}, "spec": {
            "type": "NodePort", "clusterIP": ip, "clusterIPs": [ip], "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None",
            "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": node_port}]}})
    };
    let at = format!("{SERVICES}/thief/status");
    let (code, refused) = server.put(&at, &thief(&ip, 30_200));
    let told = refused["message"].as_str().unwrap_or_default();
    assert_eq!(code, 422, "{refused}");
    assert!(told.ends_with("provided IP is already allocated"), "{told}");
    assert_eq!(
        address(&mut server, &ip)["spec"]["parentRef"]["name"],
        "real"
    );
    let (code, refused) = server.put(&at, &thief("10.96.7.7", 30_100));
    let told = refused["message"].as_str().unwrap_or_default();
    assert_eq!(code, 422, "{refused}");
    assert!(
        told.ends_with("provided port is already allocated"),
        "{told}"
    );
    assert_eq!(server.put(&at, &thief("10.96.7.7", 30_200)).0, 201);
    assert_eq!(
        address(&mut server, "10.96.7.7")["spec"]["parentRef"]["name"],
        "thief"
    );
    // What both held is free when both are gone, not before.
    assert_eq!(
        server.delete(&format!("{SERVICES}/thief"), &Value::Null).0,
        200
    );
    assert_eq!(
        address(&mut server, &ip)["spec"]["parentRef"]["name"],
        "real"
    );
}

/// A folder may hold two Services with one address and one node port: each frees only what is its own.
#[test]
fn a_service_that_goes_frees_only_what_is_its_own() {
    let mut server = Server::new();
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30_100}]});
    let (_, made) = server.post(SERVICES, &service("real", &spec));
    let ip = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    server.post(
        SERVICES,
        &service("thief", &json!({"ports": [{"port": 80}]})),
    );
    let store = server.registry.store();
    let mut items: Vec<_> = store.iter().cloned().collect();
    let real = items
        .iter()
        .find(|item| item.key.ends_with("services/default/real"));
    let text = String::from_utf8(real.unwrap().value.kept().to_vec()).unwrap();
    let text = text.replace("\"real\"", "\"thief\"");
    for item in &mut items {
        if item.key.ends_with("services/default/thief") {
            item.value = crate::Stored::read(text.clone().into()).unwrap();
        }
    }
    let limits = crate::Registry::limits();
    let store = flyball_storage::Store::restore(store.revision(), items, limits).unwrap();
    server.registry = crate::Registry::new(store);
    let (code, deleted) = server.delete(&format!("{SERVICES}/thief"), &Value::Null);
    assert_eq!(code, 200, "{deleted}");
    assert_eq!(
        address(&mut server, &ip)["spec"]["parentRef"]["name"],
        "real"
    );
    let again = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30_100}]});
    let (code, refused) = server.post(SERVICES, &service("other", &again));
    assert_eq!(code, 422, "{refused}");
}
