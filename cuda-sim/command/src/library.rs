//! The software device's library, and the software NCCL, in a folder, under the names by which programs look for NVIDIA's.
//!
//! The folder lies in the user's cache folder and is named by the library's content, so that programs which run go on with
//! the version that they have loaded, and several versions can be used side by side.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The names of NVIDIA's driver on Linux: the one that programs are linked with, and the one that tools such as Python's
/// `ctypes` find.
pub(crate) const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The names of NCCL, and that of the software NCCL itself.
const NCCL_NAMES: [&str; 3] = ["libnccl.so.2", "libnccl.so", "libnccl_sim.so.2"];

/// The file of the software NCCL as cargo builds it.
const NCCL_FILE: &str = "libnccl_sim.so";

/// The contents of the driver's library and of NCCL's, if the program contains them.
#[cfg(embedded)]
const EMBEDDED: Option<[&[u8]; 2]> =
    Some([include_bytes!(env!("CUDA_SIM_EMBEDDED")), include_bytes!(env!("CUDA_NCCL_SIM_EMBEDDED"))]);
#[cfg(not(embedded))]
const EMBEDDED: Option<[&[u8]; 2]> = None;

/// The folder that has the libraries under each of NVIDIA's names, which is created first if there is none.
///
/// # Errors
///
/// There is no library, or the folder cannot be written.
pub(crate) fn folder() -> Result<PathBuf> {
    let cache = cache(|name| std::env::var_os(name).filter(|value| !value.is_empty()))?;
    match EMBEDDED {
        Some(contents) => unpacked(&cache, contents),
        None => linked(&cache, &beside()?),
    }
}

/// The user's cache folder for this program.
fn cache<T: AsRef<OsStr>>(variable: impl Fn(&str) -> Option<T>) -> Result<PathBuf> {
    let chosen = variable("XDG_CACHE_HOME").map(|folder| PathBuf::from(folder.as_ref()));
    let in_home = || variable("HOME").map(|home| Path::new(home.as_ref()).join(".cache"));
    let cache =
        chosen.or_else(in_home).context("neither XDG_CACHE_HOME nor HOME is set; set one, for a folder to cache in")?;
    Ok(cache.join("cuda-sim"))
}

/// The library beside the program, where cargo builds it.
fn beside() -> Result<PathBuf> {
    let program = std::env::current_exe().context("the system does not tell the program's file")?;
    let library = program.with_file_name("libcuda_sim.so");
    if !library.is_file() {
        bail!("there is no {}; `cargo build --package cuda-sim-cdylib` builds it", library.display());
    }
    Ok(library)
}

/// A folder in the cache with these contents as the driver's library and as NCCL's.
fn unpacked(cache: &Path, contents: [&[u8]; 2]) -> Result<PathBuf> {
    let hash = contents.iter().fold(blake3::Hasher::new(), |mut hasher, content| {
        hasher.update(content);
        hasher
    });
    let folder = cache.join(&*hash.finalize().to_hex());
    for (content, name) in contents.into_iter().zip([NAMES[0], NCCL_NAMES[0]]) {
        let library = folder.join(name);
        // a file that something else has changed is written again
        if fs::read(&library).ok().as_deref() != Some(content) {
            fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
            replace(&library, content).with_context(|| format!("{} cannot be written", library.display()))?;
        }
    }
    link(&folder.join(NAMES[1]), Path::new(NAMES[0]))?;
    NCCL_NAMES[1..].iter().try_for_each(|name| link(&folder.join(name), Path::new(NCCL_NAMES[0])))?;
    Ok(folder)
}

/// A folder in the cache with links to a driver's library, and to the software NCCL if that was built beside it.
fn linked(cache: &Path, library: &Path) -> Result<PathBuf> {
    let folder = cache.join(format!("linked-{}", blake3::hash(library.as_os_str().as_encoded_bytes()).to_hex()));
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    for name in NAMES {
        link(&folder.join(name), library)?;
    }
    let nccl = library.with_file_name(NCCL_FILE);
    if nccl.is_file() {
        NCCL_NAMES.iter().try_for_each(|name| link(&folder.join(name), &nccl))?;
    }
    Ok(folder)
}

/// Writes a file such that no program ever sees a part of it.
fn replace(file: &Path, content: &[u8]) -> Result<()> {
    let folder = file.parent().context("the file is in a folder")?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(content)?;
    new.persist(file)?;
    Ok(())
}

/// Makes a symbolic link, unless it is there.
fn link(link: &Path, to: &Path) -> Result<()> {
    match symlink(to, link) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.with_context(|| format!("{} cannot be created", link.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_variables_say() {
        let of = |set: &'static [(&str, &'static str)]| {
            cache(move |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
        };
        assert_eq!(of(&[("XDG_CACHE_HOME", "/a"), ("HOME", "/b")]).unwrap(), Path::new("/a/cuda-sim"));
        assert_eq!(of(&[("HOME", "/b")]).unwrap(), Path::new("/b/.cache/cuda-sim"));
        assert!(of(&[]).unwrap_err().to_string().contains("XDG_CACHE_HOME"));
    }

    #[test]
    fn a_library_is_unpacked_once_and_mended() {
        let cache = tempfile::tempdir().unwrap();
        let folder = unpacked(cache.path(), [b"one", b"nccl"]).unwrap();
        for name in NAMES {
            assert_eq!(fs::read(folder.join(name)).unwrap(), b"one");
        }
        for name in NCCL_NAMES {
            assert_eq!(fs::read(folder.join(name)).unwrap(), b"nccl");
        }
        fs::write(folder.join(NAMES[0]), "damaged").unwrap();
        assert_eq!(unpacked(cache.path(), [b"one", b"nccl"]).unwrap(), folder);
        assert_eq!(fs::read(folder.join(NAMES[0])).unwrap(), b"one");
        assert_ne!(unpacked(cache.path(), [b"two", b"nccl"]).unwrap(), folder);
        assert_ne!(unpacked(cache.path(), [b"one", b"other"]).unwrap(), folder);
    }

    #[test]
    fn links_lead_to_the_library() {
        let cache = tempfile::tempdir().unwrap();
        let library = cache.path().join("libcuda_sim.so");
        fs::write(&library, "library").unwrap();
        for _ in 0..2 {
            let folder = linked(cache.path(), &library).unwrap();
            assert!(NAMES.iter().all(|name| fs::read(folder.join(name)).unwrap() == b"library"));
            assert!(!folder.join(NCCL_NAMES[0]).exists());
        }
        fs::write(cache.path().join(NCCL_FILE), "nccl").unwrap();
        let folder = linked(cache.path(), &library).unwrap();
        assert!(NCCL_NAMES.iter().all(|name| fs::read(folder.join(name)).unwrap() == b"nccl"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = unpacked(file.path(), [b"one", b"nccl"]).unwrap_err().to_string();
        assert!(error.contains(&*file.path().to_string_lossy()), "{error}");
    }
}
