//! Sizes that the memory budget rests on: what every cached object costs before its contents.

use flyball_api::views::{
    ContainerStatus, Deployment, Job, Lease, Namespace, Node, Pod, PodCondition, ReplicaSet,
    ReplicationController,
};
use flyball_api::{Labels, LeanMeta, Meta, OwnerReference, Template, Text, Timestamp, Uid};

/// A size may shrink at will; one that grows past its line takes memory from every cached object
/// of its kind and wants a reason.
fn assert_at_most<T>(bytes: usize) {
    let size = size_of::<T>();
    eprintln!("{} {size} {bytes}", std::any::type_name::<T>());
    assert!(
        size <= bytes,
        "{} takes {size} bytes, {bytes} allowed",
        std::any::type_name::<T>()
    );
}

#[test]
fn words_are_small() {
    assert_at_most::<Text>(24);
    assert_at_most::<Uid>(24);
    assert_at_most::<Labels>(16);
    assert_at_most::<Timestamp>(8);
    assert_at_most::<Option<Timestamp>>(16);
    assert_at_most::<Template>(32);
    assert_at_most::<OwnerReference>(104);
    assert_at_most::<LeanMeta>(216);
    assert_at_most::<Meta>(224);
}

#[test]
fn a_pod_is_small_before_its_contents() {
    assert_at_most::<PodCondition>(48);
    assert_at_most::<ContainerStatus>(32);
    assert_at_most::<Pod>(312);
}

#[test]
fn other_kinds_stay_in_proportion() {
    assert_at_most::<Node>(size_of::<LeanMeta>() + 32);
    assert_at_most::<Job>(size_of::<LeanMeta>() + 24);
    assert_at_most::<Namespace>(size_of::<Meta>() + 24);
    assert_at_most::<ReplicaSet>(size_of::<Meta>() + 160);
    assert_at_most::<ReplicationController>(size_of::<Meta>() + 120);
    assert_at_most::<Deployment>(size_of::<Meta>() + 264);
    assert_at_most::<Lease>(size_of::<Meta>() + 120);
}
