//! Back ends.
