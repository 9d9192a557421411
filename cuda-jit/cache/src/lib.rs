//! The folder in which cuda-jit caches compiled kernels, and bundles of them: contents by the hash of their inputs.
//!
//! It depends on neither kernels nor compilers: a [`Key`] is a hash, an entry is bytes with a label. Any number of
//! processes share a folder. Invariant: [`Cache::get`] returns exactly the bytes that a process of this user, or of root,
//! gave to [`Cache::put`] for that key; any other file in the folder, and any damage, is a miss.
//!
//! # Examples
//!
//! ```
//! use cuda_jit_cache::{Cache, Key};
//!
//! let folder = tempfile::tempdir()?;
//! let cache = Cache::new(folder.path(), 1 << 20);
//! let key = Key::new(&[b"source", b"options"]);
//! assert_eq!(cache.get(&key), None);
//! assert!(cache.put(&key, "a label", b"contents"));
//! assert_eq!(cache.get(&key).as_deref(), Some(&b"contents"[..]));
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bundle;
mod entry;
mod folder;
mod settings;
mod system;

pub use bundle::{Bundle, Damaged, Recorder, is_bundle};
pub use entry::Key;
pub use folder::{Cache, Listed};
pub use settings::{DEFAULT_LIMIT, FOLDER_VARIABLE, LIMIT_VARIABLE, SWITCH_VARIABLE, Settings};
