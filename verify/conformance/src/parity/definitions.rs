//! Custom resources that both servers have from the start: data, read from `parity/definitions.yaml`.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::request::Request;
use super::sides::{Side, Sides};
use crate::poll::until;

const TEXT: &str = include_str!("../../parity/definitions.yaml");

/// Upstream waits some seconds before it serves what was defined, for the sake of other instances.
const SERVED_WITHIN: Duration = Duration::from_secs(60);

/// Defines them on both servers and waits until they are served.
pub(crate) async fn define(sides: &Sides) -> Result<()> {
    let all: Vec<Value> = serde_saphyr::from_str(TEXT).context("parity/definitions.yaml")?;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for side in [&sides.theirs, &sides.ours] {
        for definition in &all {
            let request = Request::new("POST", path).with_json(definition);
            let answer = side.ask(&request).await?;
            ensure!(answer.code == 201, "{request}\n{}", answer.shown());
        }
    }
    for side in [&sides.theirs, &sides.ours] {
        for definition in &all {
            wait(side, definition).await?;
        }
    }
    Ok(())
}

async fn wait(side: &Side, definition: &Value) -> Result<()> {
    let text = |at: &str| definition.pointer(at).and_then(Value::as_str);
    let group = text("/spec/group").context("no group")?;
    let plural = text("/spec/names/plural").context("no plural")?;
    let versions = definition["spec"]["versions"].as_array();
    for version in versions.into_iter().flatten() {
        let version = version["name"].as_str().context("no version")?;
        let path = format!("/apis/{group}/{version}/{plural}");
        let request = Request::new("GET", path.as_str());
        until(&path, SERVED_WITHIN, async || {
            let answer = side.ask(&request).await?;
            Ok(answer.is_success().then_some(()))
        })
        .await?;
    }
    Ok(())
}
