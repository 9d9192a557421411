//! Machine code on disk, in the folder of compiled kernels and by its rules (`cuda-jit-cache`).
//!
//! The key is everything that the code depends on: the module's text, how it is compiled, this CPU, LLVM, the sources that optimise
//! and rewrite it, and where the devices' memory lies, which is the same place in every process that finds it free. Nothing is
//! ever out of date, and what is wrong with a file is a miss. What is found needs no LLVM.

use super::object::{self, Mode};
use crate::environment::ENVIRONMENT;
use crate::memory::MEMORY;
use cuda_jit_cache::{Cache, Key, Settings};
use once_cell::sync::Lazy;
use std::fs::File;
use std::io::Read as _;

/// The sources that decide what object file a module's text becomes; a part of every entry's key.
const SOURCES: &[&str] = &[include_str!("object.rs"), include_str!("guard.rs")];

/// The folder, unless the environment switches it off.
static FOLDER: Lazy<Option<Cache>> = Lazy::new(|| Settings::from_process().map(Settings::open));

/// The model and features of this CPU, a part of every entry's key; none where the system does not say.
static CPU: Lazy<Option<String>> = Lazy::new(|| {
    let mut text = Vec::new();
    File::open("/proc/cpuinfo").ok()?.take(1 << 14).read_to_end(&mut text).ok()?;
    first_cpu(&String::from_utf8_lossy(&text))
});

/// The object file of a module's text, if it is on the disk.
pub(super) fn find(ir: &str, mode: Mode) -> Option<Vec<u8>> {
    let (folder, key) = place(ir, mode)?;
    folder.get(&key)
}

/// Makes the object file of a module's text, and keeps it on the disk.
pub(super) fn make(ir: &str, mode: Mode) -> Result<Vec<u8>, String> {
    let code = object::object(ir, mode)?;
    if let Some((folder, key)) = place(ir, mode) {
        folder.put(&key, "machine code of the software device", &code);
    }
    Ok(code)
}

/// The object file of a module's text: from the disk, or made and kept there.
pub(super) fn object(ir: &str, mode: Mode) -> Result<Vec<u8>, String> {
    find(ir, mode).map_or_else(|| make(ir, mode), Ok)
}

/// The folder and the key of a module's text in it.
fn place(ir: &str, mode: Mode) -> Option<(&'static Cache, Key)> {
    let folder = FOLDER.as_ref().filter(|_| !ENVIRONMENT.print_llvm)?;
    Some((folder, key(ir, mode, CPU.as_ref()?)))
}

fn key(ir: &str, mode: Mode, cpu: &str) -> Key {
    let how = format!("{mode:?} {:?}", MEMORY.guards());
    let mut parts = vec![ir, &how, cpu, cuda_llvm::identity()];
    parts.extend(SOURCES);
    Key::new(&parts.into_iter().map(str::as_bytes).collect::<Vec<_>>())
}

/// The lines of `/proc/cpuinfo` on the first CPU that are the same for all of its model.
fn first_cpu(text: &str) -> Option<String> {
    const TOLD: &[&str] = &[
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "stepping",
        "flags",
        "Features",
        "CPU implementer",
        "CPU architecture",
        "CPU variant",
        "CPU part",
        "CPU revision",
    ];
    let lines = text.lines().take_while(|line| !line.is_empty());
    let told: String = lines
        .filter(|line| line.split_once(':').is_some_and(|(key, _)| TOLD.contains(&key.trim())))
        .map(|line| format!("{line}\n"))
        .collect();
    (told.contains("flags") || told.contains("Features")).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_its_model_and_what_it_can_do() {
        let text = "processor\t: 0\nvendor_id\t: A\nmodel\t\t: 7\ncpu MHz\t\t: 2.5\nflags\t\t: fpu avx2\n\nprocessor\t: 1\nmodel\t: 8\n";
        assert_eq!(first_cpu(text).as_deref(), Some("vendor_id\t: A\nmodel\t\t: 7\nflags\t\t: fpu avx2\n"));
        assert_eq!(first_cpu("processor\t: 0\n"), None);
        assert!(CPU.is_some(), "Linux tells");
    }
}
