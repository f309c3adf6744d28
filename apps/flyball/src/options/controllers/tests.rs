use super::*;
use expect_test::expect;

fn select(list: &str) -> Selection {
    Selection::parse(&list.split(',').map(str::to_owned).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_star_turns_on_what_is_on_by_default() {
    let all = select("*");
    assert!(all.enabled("deployment-controller"));
    assert!(!all.enabled("bootstrap-signer-controller"));
    assert!(!all.enabled("no-such-controller"));
    assert_eq!(
        CONTROLLERS
            .iter()
            .filter(|known| all.enabled(known.name))
            .count(),
        49
    );
}

#[test]
fn a_name_adds_and_a_minus_leaves_out() {
    let list = select("*,bootstrapsigner,-job-controller");
    assert!(list.enabled("bootstrap-signer-controller"));
    assert!(!list.enabled("job-controller"));
    assert!(list.enabled("cronjob-controller"));
}

#[test]
fn without_a_star_only_named_controllers_run() {
    let list = select("deployment,replicaset");
    assert!(list.enabled("deployment-controller"));
    assert!(!list.enabled("job-controller"));
}

#[test]
fn the_first_entry_that_names_a_controller_decides() {
    assert!(!select("-deployment,deployment-controller,*").enabled("deployment-controller"));
    assert!(select("deployment,*,-deployment").enabled("deployment-controller"));
    assert!(
        !select("*,-deployment").enabled("deployment-controller"),
        "the star does not decide"
    );
}

#[test]
fn every_alias_stands_for_one_controller() {
    let mut names: Vec<&str> = CONTROLLERS.iter().flat_map(names_of).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(CONTROLLERS.len(), 52);
    assert_eq!(
        find("csrsigning").unwrap().name,
        "certificatesigningrequest-signing-controller"
    );
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let entries = ["*".to_owned(), "-deploymnet".to_owned(), "zebra".to_owned()];
    let errors = Selection::parse(&entries).unwrap_err();
    assert_eq!(errors.len(), 2);
    let shown = errors[0].to_string();
    assert!(shown.starts_with(
        "\"deploymnet\" is not in the list of known controllers; did you mean deployment?\n\
         Known controllers: bootstrap-signer-controller, certificatesigningrequest-approving-controller, "
    ));
    assert!(shown.ends_with("volumeattributesclass-protection-controller"));
}

#[test]
fn what_is_wanted_but_not_built_is_named() {
    let built = ["deployment-controller", "replicaset-controller"];
    let missing = |list: &str| select(list).not_built(&built, |gate| gate == "DRADeviceTaints");
    assert_eq!(missing("deployment,job,-cronjob"), ["job-controller"]);
    assert_eq!(missing("deployment"), Vec::<&str>::new());
    assert_eq!(
        missing("podgroup-protection-controller,service"),
        ["podgroup-protection-controller", "service-lb-controller"]
    );
    let wide = missing("*");
    assert!(
        !wide.contains(&"podgroup-protection-controller"),
        "its gate is off"
    );
    assert!(
        !wide.contains(&"service-lb-controller"),
        "it does not run upstream either"
    );
    assert!(wide.contains(&"job-controller"));
}

#[test]
fn client_names_are_those_that_rbac_knows() {
    let clients: Vec<String> = CONTROLLERS
        .iter()
        .filter(|known| known.client != known.name)
        .map(|known| format!("{} = {}\n", known.name, known.client))
        .collect();
    expect![[r#"
        serviceaccount-token-controller = tokens-controller
        endpoints-controller = endpoint-controller
        endpointslice-mirroring-controller = endpointslicemirroring-controller
        replicationcontroller-controller = replication-controller
        pod-garbage-collector-controller = pod-garbage-collector
        serviceaccount-controller = service-account-controller
        garbage-collector-controller = generic-garbage-collector
        daemonset-controller = daemon-set-controller
        horizontal-pod-autoscaler-controller = horizontal-pod-autoscaler
        certificatesigningrequest-signing-controller = certificate-controller
        certificatesigningrequest-approving-controller = certificate-controller
        certificatesigningrequest-cleaner-controller = certificate-controller
        podcertificaterequest-cleaner-controller = podcertificaterequestcleaner
        bootstrap-signer-controller = bootstrap-signer
        token-cleaner-controller = token-cleaner
        node-ipam-controller = node-controller
        node-lifecycle-controller = node-controller
        service-lb-controller = service-controller
        node-route-controller = route-controller
        persistentvolume-binder-controller = persistent-volume-binder
        persistentvolume-attach-detach-controller = attachdetach-controller
        persistentvolume-expander-controller = expand-controller
        persistentvolumeclaim-protection-controller = pvc-protection-controller
        persistentvolume-protection-controller = pv-protection-controller
        root-ca-certificate-publisher-controller = root-ca-cert-publisher
        kube-apiserver-serving-clustertrustbundle-publisher-controller = kube-apiserver-serving-clustertrustbundle-publisher
        storageversion-garbage-collector-controller = storage-version-garbage-collector
        resourceclaim-controller = resource-claim-controller
        legacy-serviceaccount-token-cleaner-controller = legacy-service-account-token-cleaner
        taint-eviction-controller = node-controller
        service-cidr-controller = service-cidrs-controller
    "#]]
    .assert_eq(&clients.concat());
}
