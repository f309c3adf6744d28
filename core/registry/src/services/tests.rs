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
