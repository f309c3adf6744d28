//! The cases of the toy controller: they also show what a case looks like.

use crate::controller::{BY_NAME, Keeper, NONE};
use flyball_testkit::{case_differences, check_cases};

#[test]
fn the_keeper_does_what_its_cases_say() {
    check_cases(&Keeper::<NONE>, "tests/keeper/cases");
}

#[test]
fn a_case_that_goes_otherwise_is_shown_with_its_difference() {
    let wrong = case_differences(&Keeper::<BY_NAME>, "tests/keeper/cases");
    let [wrong] = &wrong[..] else {
        panic!("{wrong:#?}")
    };
    assert!(wrong.starts_with("tests/keeper/cases/deletes_only_what_it_judged.yaml: A pod that"));
    assert!(
        wrong.contains("-  delete Pod default/web-a [uid]"),
        "{wrong}"
    );
    assert!(
        wrong.contains("+  delete Pod default/web-a [whatever is there]"),
        "{wrong}"
    );
}
