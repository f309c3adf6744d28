//! Rules that several controllers share.

pub mod claim;
pub mod claims;
pub mod pod_body;
pub mod pods;
pub mod ranking;
pub mod splice;
pub mod status;
