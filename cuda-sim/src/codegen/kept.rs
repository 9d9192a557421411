//! Machine code on disk, in the folder of compiled kernels and by its rules (`cuda-jit-cache`).
//!
//! The key is everything that the code depends on: the module's text, how it is compiled, this CPU, LLVM, the sources that optimise
//! and rewrite it, and where the devices' memory lies, which is the same place in every process that finds it free. Nothing is
//! ever out of date, and what is wrong with a file is a miss.

use super::object::{self, Mode};
use crate::environment::ENVIRONMENT;
use crate::memory::MEMORY;
use cuda_jit_cache::{Cache, Key, Settings};
use cuda_llvm::inkwell::targets::TargetMachine;
use once_cell::sync::Lazy;

/// The name of every kernel's function; each time that it is linked, the zeros become a number.
const SYMBOL: &str = "cuda_sim_0000000000000000";

/// What makes an object of a module's text.
const SOURCES: &[&str] = &[include_str!("object.rs"), include_str!("guard.rs")];

/// The folder, unless the environment switches it off.
static FOLDER: Lazy<Option<Cache>> = Lazy::new(|| Settings::from_process().map(Settings::open));

/// What tells this CPU from others.
static CPU: Lazy<String> = Lazy::new(|| {
    let (name, features) = (TargetMachine::get_host_cpu_name(), TargetMachine::get_host_cpu_features());
    format!("{} {}", name.to_string_lossy(), features.to_string_lossy())
});

/// The object file of a module's text, and the name of the kernel's function in it: from the disk, or made and kept there.
pub(super) fn object(ir: &str, mode: Mode, number: u64) -> Result<(Vec<u8>, String), String> {
    let folder = FOLDER.as_ref().filter(|_| !ENVIRONMENT.print_llvm);
    let make = || object::object(ir, SYMBOL, mode);
    let code = match folder {
        None => make()?,
        Some(folder) => {
            let key = key(ir, mode);
            folder.get(&key).map_or_else(
                || {
                    let code = make()?;
                    let cpu = CPU.split(' ').next().unwrap_or_default();
                    folder.put(&key, &format!("machine code for {cpu}"), &code);
                    Ok::<_, String>(code)
                },
                Ok,
            )?
        }
    };
    named(code, number)
}

fn key(ir: &str, mode: Mode) -> Key {
    let how = format!("{mode:?} {:?}", MEMORY.guards());
    let mut parts = vec![ir, &how, CPU.as_str(), cuda_llvm::identity()];
    parts.extend(SOURCES);
    Key::new(&parts.into_iter().map(str::as_bytes).collect::<Vec<_>>())
}

/// The object with a number in its function's name, and that name: all code of a process shares one library.
fn named(mut code: Vec<u8>, number: u64) -> Result<(Vec<u8>, String), String> {
    let name = format!("cuda_sim_{number:016x}");
    let places: Vec<usize> = (0..code.len()).filter(|&at| code[at..].starts_with(SYMBOL.as_bytes())).collect();
    if places.is_empty() {
        return Err("the object file does not name the kernel".to_owned());
    }
    for at in places {
        code[at..at + name.len()].copy_from_slice(name.as_bytes());
    }
    Ok((code, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_of_the_name_gets_the_number() {
        let (code, name) = named(format!("a\0{SYMBOL}\0b\0.text.{SYMBOL}\0").into_bytes(), 0xab).unwrap();
        assert_eq!(name, "cuda_sim_00000000000000ab");
        assert_eq!(String::from_utf8(code).unwrap(), format!("a\0{name}\0b\0.text.{name}\0"));
        assert!(named(b"nothing".to_vec(), 1).is_err());
    }
}
