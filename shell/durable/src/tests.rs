//! What is promised about folders, on real files.

mod cutting;
mod damage;
mod failing;
mod folding;
mod opening;
mod scratch;
