//! What one sync does with given objects: `cases/*.yaml`.

use super::controller;

#[test]
fn does_what_its_cases_say() {
    flyball_testkit::check_cases(&controller(), "src/deployment/cases");
}
