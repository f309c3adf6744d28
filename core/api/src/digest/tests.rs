use super::*;

const TEMPLATE_JSON: &str = r#"{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"web:1","resources":{"limits":{"cpu":"1"}}}]}}"#;

#[test]
fn the_hash_of_a_template_stays_what_it_is() {
    // Golden: a change here renames every ReplicaSet that is created from now on.
    assert_eq!(template_hash("{}", None), "df44664b7");
    assert_eq!(template_hash(TEMPLATE_JSON, None), "b4886bcb8");
    assert_eq!(template_hash(TEMPLATE_JSON, Some(0)), "96b79875b");
    assert_eq!(template_hash(TEMPLATE_JSON, Some(1)), "64f745bc8f");
}

#[test]
fn equal_templates_hash_equally_and_others_do_not() {
    let same = TEMPLATE_JSON
        .replace(r#""1"}"#, r#""1000m"}"#)
        .replace("{}", "{ }");
    assert_eq!(
        template_hash(&same, None),
        template_hash(TEMPLATE_JSON, None)
    );
    let other = TEMPLATE_JSON.replace("web:1", "web:2");
    assert_ne!(
        template_hash(&other, None),
        template_hash(TEMPLATE_JSON, None)
    );
}

#[test]
fn each_collision_count_makes_another_hash() {
    let hashes: std::collections::BTreeSet<String> =
        [None, Some(0), Some(1), Some(2), Some(-1), Some(i32::MAX)]
            .map(|count| template_hash(TEMPLATE_JSON, count))
            .into();
    assert_eq!(hashes.len(), 6);
}

#[test]
fn what_is_no_json_still_has_a_hash() {
    assert_eq!(template_hash("{", None), template_hash("{", None));
    assert_ne!(template_hash("{", None), template_hash("[", None));
}

#[test]
fn the_alphabet_is_upstreams() {
    // Printed by apimachinery's SafeEncodeString.
    assert_eq!(safe_encode("0123456789"), "456789bcdf");
    assert_eq!(safe_encode(""), "");
    let hash = template_hash(TEMPLATE_JSON, Some(7));
    assert!(
        hash.len() <= 10
            && hash
                .bytes()
                .all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b))
    );
}

#[test]
fn fnv_1a_has_its_published_values() {
    assert_eq!(fnv_1a(FNV_OFFSET, b""), 0x811c_9dc5);
    assert_eq!(fnv_1a(FNV_OFFSET, b"a"), 0xe40c_292c);
    assert_eq!(fnv_1a(FNV_OFFSET, b"foobar"), 0xbf9c_f968);
}
