//! Formats generated text with rustfmt, and compares it with a committed file.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::workspace;

/// Formats Rust with the workspace's settings.
pub(super) fn rustfmt(text: &str) -> Result<String> {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--config-path"]).arg(workspace::root());
    let (success, output) = filter(&mut rustfmt, text)?;
    ensure!(success, "rustfmt refused the generated types; `rustup component add rustfmt` installs it");
    Ok(output)
}

/// The difference between the file at `path` and `text`, as a patch; empty if there is none.
pub(super) fn difference(path: &Path, text: &str) -> Result<String> {
    if std::fs::read_to_string(path).is_ok_and(|committed| committed == text) {
        return Ok(String::new());
    }
    ensure!(path.exists(), "{} is missing; `cargo xtask gen-bindings` writes it", path.display());
    let (folder, name) = (path.parent(), path.file_name());
    let mut git = Command::new("git");
    git.current_dir(folder.unwrap_or(Path::new("."))).args(["diff", "--no-index", "--no-color", "--no-ext-diff", "--"]);
    Ok(filter(git.args(name).arg("-"), text)?.1)
}

/// Passes `text` to a command's standard input. Returns whether it succeeded, and its output.
fn filter(command: &mut Command, text: &str) -> Result<(bool, String)> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("cannot run {name}"))?;
    let mut input = child.stdin.take().context("the command has no standard input")?;
    let text = text.to_owned();
    // A thread of its own writes, since the command may print before it has read everything.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    writer
        .join()
        .expect("the writing thread does not panic")
        .with_context(|| format!("{name} did not read its input"))?;
    Ok((output.status.success(), String::from_utf8(output.stdout)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_as_a_patch() {
        let scratch = workspace::scratch("difference").unwrap();
        let file = scratch.path().join("types.rs");
        std::fs::write(&file, "one\ntwo\n").unwrap();
        assert_eq!(difference(&file, "one\ntwo\n").unwrap(), "");
        let patch = difference(&file, "one\nthree\n").unwrap();
        assert!(patch.contains("-two") && patch.contains("+three"), "{patch}");
        assert!(difference(&scratch.path().join("absent.rs"), "").is_err());
    }
}
