//! The fields of upstream's structures in the order in which they are declared, which is that of their numbers.

use crate::table::TEXT;

/// The names in JSON of all fields of a type of the API, such as `io.k8s.api.core.v1.Pod`, as they are declared; nothing
/// if there is no such type. It is looked up anew each time: for messages about mistakes.
pub fn declared_fields(type_name: &str) -> Vec<&'static str> {
    let mut parts = type_name.rsplit('.');
    let (Some(name), Some(version), Some(group)) = (parts.next(), parts.next(), parts.next())
    else {
        return Vec::new();
    };
    let mut fields = Vec::new();
    declared(
        &format!("{group}/{version}"),
        name,
        INLINED_MAX,
        &mut fields,
    );
    fields
}

/// How deep structures lie within others whose fields stand in their place.
const INLINED_MAX: usize = 4;

fn declared(package: &str, name: &str, depth: usize, into: &mut Vec<&'static str>) {
    let Some(line) = line(package, name).filter(|_| depth > 0) else {
        return;
    };
    for field in line.split(' ').skip(1) {
        let mut parts = field.splitn(3, ':').skip(1);
        match (parts.next(), parts.next()) {
            (Some(""), Some(of)) => {
                let of = of.trim_end_matches(['?', '!', '~']);
                let (package, name) = of.rsplit_once('.').unwrap_or((package, of));
                declared(package, name, depth - 1, into);
            }
            (Some(field), Some(_)) => into.push(field),
            _ => {}
        }
    }
}

/// The line of a message.
fn line(package: &str, name: &str) -> Option<&'static str> {
    let is_header = |line: &&str| line.starts_with("= ");
    let begins = |line: &&str| {
        let header = line
            .strip_prefix("= ")
            .and_then(|line| line.split(' ').next());
        header == Some(package)
    };
    let lines = TEXT.lines().skip_while(|line| !begins(line)).skip(1);
    let mut lines = lines.take_while(|line| !is_header(line));
    lines.find(|line| {
        let head = line.split([' ', '@']).next().unwrap_or_default();
        head.trim_start_matches('+') == name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_as_they_are_declared() {
        let item = declared_fields("io.k8s.api.core.v1.LimitRangeItem");
        assert_eq!(item[..3], ["type", "max", "min"]);
        let meta = declared_fields("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
        assert_eq!(meta[..3], ["name", "generateName", "namespace"]);
        let volume = declared_fields("io.k8s.api.core.v1.Volume");
        assert_eq!(volume[..3], ["name", "hostPath", "emptyDir"]);
        assert!(declared_fields("io.k8s.api.core.v1.Odd").is_empty());
        assert!(declared_fields("Odd").is_empty());
    }
}
