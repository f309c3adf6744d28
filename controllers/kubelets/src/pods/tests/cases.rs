//! The cases: one sync of one node each, as YAML.

use flyball_testkit::check_cases_in;

use super::*;

#[test]
fn pods_do_what_their_cases_say() {
    check_cases_in(&subject(), "src/pods/cases", prepared);
}
