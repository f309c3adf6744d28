//! Writes the types of all built-in kinds into the file that the crate embeds.
//!
//! They come from k8s-openapi: names, scopes and schemas as it states them (`kinds`), list semantics by watching it
//! merge (`probe`). What it does not know are two tables of facts (`facts`, `resources`).

mod encode;
mod facts;
mod kinds;
mod probe;
mod resources;
mod walk;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use kinds::{Kind, Scope};
use resources::{OFFERS, Offer};

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo reads this; without it, every change of the crate would run the script again.
    writeln!(std::io::stdout(), "cargo::rerun-if-changed=build")?;
    let (kinds, schemas) = kinds::all();
    let findings = probe::probe(&kinds, &schemas);
    let mut walk = walk::Walk::new(&schemas, &findings);
    for name in schemas.keys() {
        walk.named(name);
    }

    let mut file = encode::File::default();
    file.number(walk.types.len() as u64);
    for of in &walk.types {
        file.of_type(of);
    }
    file.number(kinds.len() as u64);
    for kind in &kinds {
        file.texts(&[kind.group, kind.version, kind.kind]);
        file.number(place(&walk.types, &kind.type_name)?);
    }
    file.number(OFFERS.len() as u64);
    for offer in OFFERS {
        resource(&mut file, offer, &kinds, &walk.types)?;
    }

    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(folder.join("types.bin"), file.finish())?;
    let descriptions = encode::descriptions(&walk.types);
    let packed = miniz_oxide::deflate::compress_to_vec(&descriptions, 9);
    std::fs::write(folder.join("descriptions.bin"), packed)?;
    Ok(())
}

fn resource(
    file: &mut encode::File,
    offer: &Offer,
    kinds: &[Kind],
    types: &[walk::Type],
) -> Result<(), Box<dyn Error>> {
    let (group, version, plural) = offer.of;
    let of = |kind: &&Kind| (kind.group, kind.version, kind.plural) == offer.of;
    let kind = kinds.iter().find(of);
    let kind = kind.ok_or_else(|| format!("k8s-openapi has no {plural} in {group}/{version}"))?;
    file.texts(&[
        group,
        version,
        kind.kind,
        kind.list_kind.unwrap_or_default(),
    ]);
    file.texts(&[plural, &kind.kind.to_lowercase()]);
    file.texts(offer.short_names);
    file.texts(offer.categories);
    file.number(u64::from(kind.scope == Scope::Namespaced));
    file.texts(offer.verbs);
    file.number(offer.parts.len() as u64);
    for part in offer.parts {
        let (group, version, kind) = part.of.unwrap_or((group, version, kind.kind));
        file.texts(&[part.name, group, version, kind]);
        file.texts(part.verbs);
    }
    file.number(place(types, &kind.type_name)?);
    Ok(())
}

fn place(types: &[walk::Type], name: &str) -> Result<u64, Box<dyn Error>> {
    let place = types.iter().position(|of| of.name == name);
    Ok(place.ok_or_else(|| format!("there is no type {name}"))? as u64)
}
