//! How fast an autoscaler scales, in the notation of annotations.

use serde_json::Value;

use super::notation::{any, map, object};

/// How fast it scales, in the names of upstream's own structures.
pub(super) fn write(behavior: &Value) -> String {
    let rules = |rules: &Value| match rules.is_null() {
        true => Some("null".to_owned()),
        false => {
            let policies = rules["policies"].as_array().map(|all| {
                let one = |one: &Value| {
                    object(&[
                        ("Type", any(&one["type"])),
                        ("Value", any(&one["value"])),
                        ("PeriodSeconds", any(&one["periodSeconds"])),
                    ])
                };
                let all: Vec<String> = all.iter().map(one).collect();
                format!("[{}]", all.join(","))
            });
            Some(object(&[
                (
                    "StabilizationWindowSeconds",
                    any(&rules["stabilizationWindowSeconds"]),
                ),
                ("SelectPolicy", any(&rules["selectPolicy"])),
                ("Policies", policies.or_else(|| Some("null".to_owned()))),
                ("Tolerance", any(&rules["tolerance"])),
            ]))
        }
    };
    object(&[
        ("ScaleUp", rules(&behavior["scaleUp"])),
        ("ScaleDown", rules(&behavior["scaleDown"])),
    ])
}

/// How fast it scales, as an annotation tells it; nothing if it says nothing.
pub(super) fn read(written: &Value) -> Option<Value> {
    written.as_object()?;
    let rules = |rules: &Value| {
        let policies = rules["Policies"].as_array().map(|all| {
            let one = |one: &Value| {
                map(&[
                    ("type", &one["Type"]),
                    ("value", &one["Value"]),
                    ("periodSeconds", &one["PeriodSeconds"]),
                ])
            };
            Value::from(all.iter().map(one).collect::<Vec<Value>>())
        });
        map(&[
            (
                "stabilizationWindowSeconds",
                &rules["StabilizationWindowSeconds"],
            ),
            ("selectPolicy", &rules["SelectPolicy"]),
            ("policies", &policies.unwrap_or_default()),
            ("tolerance", &rules["Tolerance"]),
        ])
    };
    let given = |name: &str| match &written[name] {
        Value::Object(_) => rules(&written[name]),
        _ => Value::Null,
    };
    let behavior = map(&[
        ("scaleUp", &given("ScaleUp")),
        ("scaleDown", &given("ScaleDown")),
    ]);
    behavior
        .as_object()
        .is_some_and(|all| !all.is_empty())
        .then_some(behavior)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn behavior_is_written_in_the_order_of_upstream() {
        let behavior = json!({"scaleUp": {
            "stabilizationWindowSeconds": 5,
            "selectPolicy": "Max",
            "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}],
        }});
        let text = write(&behavior);
        assert_eq!(
            text,
            r#"{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}"#
        );
        let written: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read(&written), Some(behavior));
        assert_eq!(read(&json!({"Other": 1})), None);
        assert_eq!(read(&json!([])), None);
    }
}
