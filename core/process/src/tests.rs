//! What a process decides, one decision at a time. How decisions fare together is the simulator's.

mod caches;
mod events;
mod histories;
mod stops;
mod terms;
mod toys;
mod views;
