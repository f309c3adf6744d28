//! The parts of the `flyball` program: its command line, its configuration, its logs, and the
//! wiring of controllers to a runtime. No decisions about clusters are made here.

pub mod commands;
pub mod controllers;
pub mod identity;
pub mod logging;
pub mod options;
pub mod serving;
