//! `cache`: lists the compiled kernels in the cache's folder or in a bundle, and empties the folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use cuda_jit_cache::{Bundle, Cache, FOLDER_VARIABLE, SWITCH_VARIABLE, Settings};

#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the kernels, the last used first, or those of a bundle
    Show {
        /// The file of a bundle, as in `CUDA_JIT_RECORD`
        bundle: Option<PathBuf>,
    },
    /// Remove all kernels
    Clear,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Action::Show { bundle: Some(file) } = &options.action {
        show_bundle(file)?.into_iter().for_each(|line| println!("{line}"));
        return Ok(());
    }
    let cache = open().with_context(|| {
        format!("the cache is off: {SWITCH_VARIABLE} says so, or neither {FOLDER_VARIABLE} nor HOME names a folder")
    })?;
    match options.action {
        Action::Show { .. } => show(&cache).into_iter().for_each(|line| println!("{line}")),
        Action::Clear => println!("{}", clear(&cache)?),
    }
    Ok(())
}

fn clear(cache: &Cache) -> Result<String> {
    let folder = cache.folder().display();
    let count = cache.clear().with_context(|| format!("cannot empty {folder}"))?;
    Ok(format!("{count} kernels removed from {folder}"))
}

fn open() -> Option<Cache> {
    Settings::from_process().map(Settings::open)
}

/// The line of `doctor` about the cache.
pub(crate) fn summary() -> String {
    open().map_or_else(|| "off".to_owned(), |cache| show(&cache).remove(0))
}

/// A summary, then a line for each kernel.
fn show(cache: &Cache) -> Vec<String> {
    let entries = cache.list();
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let (count, limit) = (entries.len(), cache.limit());
    let mut lines = vec![format!("{}: {count} kernels, {bytes} bytes of {limit}", cache.folder().display())];
    lines.extend(entries.iter().map(|entry| {
        let label = entry.label.as_deref().unwrap_or("(damaged, or of another version)");
        let age = entry.used.elapsed().unwrap_or(Duration::ZERO);
        format!("{:>9} bytes  used {:>8} ago  {label}", entry.bytes, ago(age))
    }));
    lines
}

/// A summary, then a line for each kernel of a bundle.
fn show_bundle(file: &Path) -> Result<Vec<String>> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let length = bytes.len();
    let bundle = Bundle::new(bytes).with_context(|| format!("{} is no bundle of kernels", file.display()))?;
    let kernels = bundle.list().map(|(label, bytes, whole)| {
        let damaged = if whole { "" } else { "  (damaged)" };
        format!("{bytes:>9} bytes  {label}{damaged}")
    });
    let summary = format!("{}: {} kernels, {length} bytes", file.display(), bundle.labels().count());
    Ok([summary].into_iter().chain(kernels).collect())
}

/// Formats a time in its largest unit.
fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let units = [(86400, "d"), (3600, "h"), (60, "min")];
    let unit = units.iter().find(|(length, _)| seconds >= *length);
    unit.map_or_else(|| format!("{seconds} s"), |(length, name)| format!("{} {name}", seconds / length))
}

#[cfg(test)]
mod tests {
    use cuda_jit_cache::{Key, Recorder};

    use super::*;

    #[test]
    fn times_are_shown_in_their_largest_unit() {
        let ago = |seconds| ago(Duration::from_secs(seconds));
        assert_eq!([59, 60, 3599, 3600, 200_000].map(ago), ["59 s", "1 min", "59 min", "1 h", "2 d"]);
    }

    #[test]
    fn kernels_are_shown_with_their_labels_and_damaged_ones_as_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), 1 << 20);
        assert!(cache.put(&Key::new(&[b"one"]), "scale_f32 sm_90", b"contents"));
        std::fs::write(folder.path().join("damaged.kernel"), b"half").unwrap();
        let mut lines = show(&cache);
        assert!(lines[0].contains(": 2 kernels, ") && lines[0].ends_with(" bytes of 1048576"), "{}", lines[0]);
        lines[1..].sort_unstable();
        assert!(
            lines[1].ends_with("        4 bytes  used      0 s ago  (damaged, or of another version)"),
            "{}",
            lines[1]
        );
        assert!(lines[2].ends_with(" bytes  used      0 s ago  scale_f32 sm_90"), "{}", lines[2]);
        assert_eq!(clear(&cache).unwrap(), format!("2 kernels removed from {}", folder.path().display()));
        assert_eq!(show(&cache).len(), 1);
    }

    #[test]
    fn the_kernels_of_a_bundle_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.bundle");
        Recorder::new(&file).put(&Key::new(&[b"one"]), "demo::add<f32>(&[f32]) sm_90", b"contents").unwrap();
        let mut bytes = std::fs::read(&file).unwrap();
        let shown = |bytes: usize| format!("{}: 1 kernels, {bytes} bytes", file.display());
        let line = format!("{:>9} bytes  demo::add<f32>(&[f32]) sm_90", bytes.len());
        assert_eq!(show_bundle(&file).unwrap(), [shown(bytes.len()), line.clone()]);
        let end = bytes.len() - 40;
        bytes[end] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(show_bundle(&file).unwrap()[1], line + "  (damaged)");
        std::fs::write(&file, "text").unwrap();
        let error = format!("{:#}", show_bundle(&file).unwrap_err());
        assert!(error.ends_with("a.bundle is no bundle of kernels: the bundle is damaged at byte 0"), "{error}");
    }

    #[test]
    fn an_empty_folder_is_shown_as_empty() {
        let cache = Cache::new("/nowhere/kernels", 1 << 20);
        assert_eq!(show(&cache), ["/nowhere/kernels: 0 kernels, 0 bytes of 1048576"]);
    }
}
