//! Any sequence of transactions, compactions and reads, against a store that keeps everything.

mod agreement;
mod model;
