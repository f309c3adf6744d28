//! The string of every view: 24 bytes, inline up to 24 characters, so that most names,
//! namespaces, label keys and resource versions cost no allocation of their own.

/// A short string, stored inline where it fits.
pub type Text = compact_str::CompactString;
