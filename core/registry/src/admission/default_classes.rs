//! DefaultStorageClass and DefaultIngressClass: who names no class gets the one that is marked.
//!
//! Upstream: `plugin/pkg/admission/storage/storageclass/setdefault`,
//! `plugin/pkg/admission/network/defaultingressclass`.

use std::cmp::Reverse;

use super::{Effects, Operation, Plugin, Review, field_mut};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};

/// Gives claims a storage class.
pub(super) struct DefaultStorageClass;

impl Plugin for DefaultStorageClass {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let annotations = &object.meta()["annotations"];
        let named = !annotations["volume.beta.kubernetes.io/storage-class"].is_null()
            || !at(object, "spec.storageClassName").is_null();
        if applies(review, ("", "persistentvolumeclaims")) && !named {
            let marks = [
                "storageclass.kubernetes.io/is-default-class",
                "storageclass.beta.kubernetes.io/is-default-class",
            ];
            give(
                review,
                ("storage.k8s.io", "storageclasses"),
                &marks,
                object,
                "storageClassName",
            );
        }
        Ok(())
    }
}

/// Gives ingresses a class.
pub(super) struct DefaultIngressClass;

impl Plugin for DefaultIngressClass {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let annotations = &object.meta()["annotations"];
        let named = !annotations["kubernetes.io/ingress.class"].is_null()
            || !at(object, "spec.ingressClassName").is_null();
        if applies(review, ("networking.k8s.io", "ingresses")) && !named {
            let marks = ["ingressclass.kubernetes.io/is-default-class"];
            let classes = ("networking.k8s.io", "ingressclasses");
            give(review, classes, &marks, object, "ingressClassName");
        }
        Ok(())
    }
}

fn applies(review: &Review<'_>, (group, plural): (&str, &str)) -> bool {
    review.is_about(group, plural) && review.operation == Operation::Create
}

/// Names the class that is marked as the default; of several, the newest, then the first by name.
fn give(
    review: &Review<'_>,
    classes: (&str, &str),
    marks: &[&str],
    object: &mut Object,
    field: &str,
) {
    let mut found = review.list(classes, "");
    found.retain(|class| {
        let annotations = &class.meta()["annotations"];
        marks.iter().any(|mark| annotations[*mark] == "true")
    });
    // They come in the order of their names, and the first of equals is chosen.
    found.sort_by_key(|class| Reverse(class.meta_text("creationTimestamp").to_owned()));
    if let Some(class) = found.first() {
        field_mut(object, "spec").insert(field.to_owned(), class.name().into());
    }
}
