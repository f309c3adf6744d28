//! The test machinery on trial, with a toy controller: one that is right, and one that is wrong
//! for each law.

mod cases;
mod controller;
mod laws;
mod runs;
