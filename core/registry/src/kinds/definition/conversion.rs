//! What is asked of how a definition's versions are converted.
//!
//! Upstream: `validateCustomResourceConversion`, `apiserver/pkg/util/webhook/validation.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::names::mistakes;

const FORM: &str = "; desired format: https://host[/path]";

/// Adds the mistakes in a conversion.
pub(super) fn check(conversion: &Value, errors: &mut Vec<FieldError>) {
    let strategy = conversion["strategy"].as_str().unwrap_or_default();
    match strategy {
        "" => errors.push(FieldError::required("spec.conversion.strategy", "")),
        "None" | "Webhook" => {}
        odd => errors.push(FieldError::not_supported(
            "spec.conversion.strategy",
            odd,
            &["None", "Webhook"],
        )),
    }
    let webhook = &conversion["webhook"];
    let (client, reviews) = (
        &webhook["clientConfig"],
        &webhook["conversionReviewVersions"],
    );
    let (of_client, of_reviews) = (
        "spec.conversion.webhookClientConfig",
        "spec.conversion.conversionReviewVersions",
    );
    if strategy == "Webhook" {
        check_client(client, of_client, errors);
        check_reviews(reviews, of_reviews, "", errors);
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if !client.is_null() {
        errors.push(FieldError::forbidden(of_client, detail));
    }
    if reviews.as_array().is_some_and(|all| !all.is_empty()) {
        errors.push(FieldError::forbidden(of_reviews, detail));
    }
}

fn check_client(client: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if client.is_null() {
        let detail = "required when strategy is set to Webhook";
        return errors.push(FieldError::required(path, detail));
    }
    match (client["url"].as_str(), &client["service"]) {
        (Some(url), Value::Null) => check_url(url, &format!("{path}.url"), errors),
        (None, service) if !service.is_null() => {
            check_service(service, &format!("{path}.service"), errors);
        }
        _ => {
            let detail = "exactly one of url or service is required";
            errors.push(FieldError::required(path, detail));
        }
    }
}

/// The place of a webhook as an address.
pub(in crate::kinds) fn check_url(url: &str, path: &str, errors: &mut Vec<FieldError>) {
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let scheme = scheme.to_ascii_lowercase();
    let authority = match scheme.as_str() {
        "" => "",
        _ => rest.split('/').next().unwrap_or_default(),
    };
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let mut wrong = |value: &str, detail: String| {
        errors.push(FieldError::invalid(path, value, detail));
    };
    if scheme != "https" {
        wrong(
            &scheme,
            format!("'https' is the only allowed URL scheme{FORM}"),
        );
    }
    if host.is_empty() {
        wrong(host, format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        wrong(
            user,
            "user information is not permitted in the URL".to_owned(),
        );
    }
    if !fragment.is_empty() {
        wrong(
            fragment,
            "fragments are not permitted in the URL".to_owned(),
        );
    }
    if !query.is_empty() {
        wrong(
            query,
            "query parameters are not permitted in the URL".to_owned(),
        );
    }
}

/// The place of a webhook as a service.
pub(in crate::kinds) fn check_service(service: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for field in ["name", "namespace"] {
        if service[field].as_str().unwrap_or_default().is_empty() {
            errors.push(FieldError::required(format!("{path}.{field}"), ""));
        }
    }
    let port = service["port"].as_i64().unwrap_or_default();
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(format!("{path}.port"), port, detail));
    }
    let way = service["path"].as_str().unwrap_or_default();
    let mut wrong = |detail: String| {
        errors.push(FieldError::invalid(format!("{path}.path"), way, detail));
    };
    if matches!(way, "" | "/") {
        return;
    }
    if way == "//" {
        return wrong("segment[0] may not be empty".to_owned());
    }
    if !way.starts_with('/') {
        wrong("must start with a '/'".to_owned());
    }
    let inner = way.get(1..).unwrap_or_default();
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    for (at, step) in inner.split('/').enumerate() {
        if step.is_empty() {
            wrong(format!("segment[{at}] may not be empty"));
            continue;
        }
        for why in mistakes(NameRule::Subdomain, step, false) {
            wrong(format!("segment[{at}]: {why}"));
        }
    }
}

/// Versions in which a webhook takes reviews.
pub(in crate::kinds) fn check_reviews(
    reviews: &Value,
    path: &str,
    missing: &str,
    errors: &mut Vec<FieldError>,
) {
    let listed = reviews.as_array().map_or(&[][..], Vec::as_slice);
    if listed.is_empty() {
        return errors.push(FieldError::required(path, missing));
    }
    let mut seen = BTreeSet::new();
    for (at, version) in listed.iter().enumerate() {
        let place = format!("{path}[{at}]");
        if !seen.insert(version.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(
                place,
                version.clone(),
                "duplicate version",
            ));
            continue;
        }
        let name = version.as_str().unwrap_or_default();
        for why in mistakes(NameRule::Label1035, name, false) {
            errors.push(FieldError::invalid(place.clone(), name, why));
        }
    }
    if !listed
        .iter()
        .any(|version| version == "v1" || version == "v1beta1")
    {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(path, reviews.clone(), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_may_be_written_in_any_case() {
        for (url, mistakes) in [("https://a/b", 0), ("HTTPS://a/b", 0), ("http://a/b", 1)] {
            let mut errors = Vec::new();
            check_url(url, "url", &mut errors);
            assert_eq!(errors.len(), mistakes, "{url}");
        }
    }
}
