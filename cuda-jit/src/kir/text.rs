//! Text form.
