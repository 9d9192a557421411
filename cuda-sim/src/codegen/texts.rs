//! The LLVM IR of a kernel's parts. If the record of the kernel's module is on disk, the IR is emitted only when a part
//! has to be compiled.

use super::Part;
use cuda_jit_cache::Key;
use once_cell::sync::OnceCell;
use std::fmt;

/// Emits all texts of a kernel.
type Write = dyn Fn() -> Result<Vec<String>, String> + Send + Sync;

/// The texts of a kernel's parts, by part number.
pub(crate) struct Texts {
    identity: Key,
    texts: OnceCell<Vec<String>>,
    write: Option<Box<Write>>,
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Texts({})", self.identity)
    }
}

/// Returns the hash that identifies a kernel's texts and the mode of each part; `parts` are in the order of their
/// numbers.
pub(crate) fn identity<'a>(texts: &[String], parts: impl Iterator<Item = &'a Part>) -> Key {
    let repeats: Vec<u8> = parts.map(|part| part.repeats.into()).collect();
    let texts = texts.iter().map(String::as_bytes);
    Key::new(&texts.chain([repeats.as_slice()]).collect::<Vec<_>>())
}

impl Texts {
    pub(crate) fn new(identity: Key, texts: Vec<String>) -> Texts {
        Texts { identity, texts: OnceCell::with_value(texts), write: None }
    }

    /// Creates texts that are emitted on demand. They must have this identity.
    pub(crate) fn later(identity: Key, write: Box<Write>) -> Texts {
        Texts { identity, texts: OnceCell::new(), write: Some(write) }
    }

    pub(crate) fn identity(&self) -> &Key {
        &self.identity
    }

    fn written(&self) -> Result<&[String], String> {
        let write = || self.write.as_ref().map_or_else(|| Ok(Vec::new()), |write| write());
        self.texts.get_or_try_init(write).map(Vec::as_slice)
    }

    /// Returns all texts.
    pub(crate) fn all(&self) -> Result<Vec<String>, String> {
        self.written().map(<[String]>::to_vec)
    }

    /// Returns the text of a part.
    pub(crate) fn get(&self, number: usize) -> Result<&str, String> {
        self.written()?.get(number).map(String::as_str).ok_or_else(|| format!("a kernel has no part {number}"))
    }
}
