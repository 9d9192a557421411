//! Progress on the terminal.

use indicatif::{ProgressBar, ProgressIterator as _, ProgressStyle};

/// Iterates over the numbers below `count`, with a progress bar if standard error is a terminal.
///
/// # Panics
///
/// Never: the template of the bar is a constant that a test reads.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_examples::steps("adding", 10).sum::<usize>(), 45);
/// ```
pub fn steps(what: &'static str, count: usize) -> impl Iterator<Item = usize> {
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} {eta}").expect("the template is valid");
    let bar = ProgressBar::new(count as u64).with_style(style).with_message(what);
    (0..count).progress_with(bar)
}
