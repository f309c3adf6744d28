//! Views against the field's own types: what we call a field, upstream calls so too.
//!
//! Nothing is spelled out twice here. Upstream's types are asked for objects with every field
//! filled ([`full`]), the views are asked which fields they have ([`names`]), and the two must
//! agree in both directions.

#[cfg(test)]
mod budget;
#[cfg(test)]
mod full;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod names;
#[cfg(test)]
mod proof;
