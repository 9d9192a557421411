//! [`Image`]: code that a driver can load, and its format.
//!
//! Drivers get an address and find the end by themselves: PTX at its NUL, machine code by the sizes in its header. So
//! an image is checked for completeness before a driver reads it; the driver checks its contents.

use std::borrow::Cow;
use std::ffi::c_void;
use std::path::Path;

use cuda_sys::CUjitInputType;

use crate::error::{Error, Result};

/// Code to be loaded or linked.
///
/// # Examples
///
/// ```
/// use cuda_driver::{Image, ImageKind};
///
/// let image = Image::from_bytes(b".version 7.8\n.target sm_75\n".to_vec())?;
/// assert_eq!(image.kind(), ImageKind::Ptx);
/// let error = Image::from_bytes(b"\x7fELF".to_vec()).unwrap_err();
/// assert_eq!(error.to_string(), "the cubin ends early: it has 4 bytes, and needs at least 64");
/// # Ok::<(), cuda_driver::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    kind: ImageKind,
    /// The bytes; PTX ends in a NUL.
    bytes: Vec<u8>,
}

/// The format of an [`Image`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Image, ImageKind};
///
/// let image = Image::from_bytes(b"!<arch>\n".to_vec())?;
/// assert_eq!(image.kind(), ImageKind::Library);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageKind {
    /// PTX, a text that the driver compiles.
    Ptx,
    /// Machine code for one compute capability.
    Cubin,
    /// Machine code and PTX for several compute capabilities.
    Fatbin,
    /// A host object file with device code in it; for the linker.
    Object,
    /// An archive of those; for the linker.
    Library,
}

impl ImageKind {
    pub(crate) fn input(self) -> CUjitInputType {
        match self {
            ImageKind::Ptx => CUjitInputType::CU_JIT_INPUT_PTX,
            ImageKind::Cubin => CUjitInputType::CU_JIT_INPUT_CUBIN,
            ImageKind::Fatbin => CUjitInputType::CU_JIT_INPUT_FATBINARY,
            ImageKind::Object => CUjitInputType::CU_JIT_INPUT_OBJECT,
            ImageKind::Library => CUjitInputType::CU_JIT_INPUT_LIBRARY,
        }
    }
}

const ELF: &[u8] = b"\x7fELF";
/// The ELF machine number of a cubin.
const CUDA_MACHINE: u16 = 190;
const FATBIN: &[u8] = &0xba55_ed50_u32.to_le_bytes();
const ARCHIVE: &[u8] = b"!<arch>\n";

impl Image {
    /// An image of the format that its first bytes show.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for bytes of no known format, and for truncated machine code.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        if bytes.starts_with(ELF) {
            let cubin = bytes.len() < 64 || number(&bytes, 18, 2) == u64::from(CUDA_MACHINE);
            check_complete(if cubin { "cubin" } else { "object" }, &bytes, 64, elf_size)?;
            let kind = if cubin { ImageKind::Cubin } else { ImageKind::Object };
            return Ok(Image { kind, bytes });
        }
        if bytes.starts_with(FATBIN) {
            check_complete("fatbin", &bytes, 16, fatbin_size)?;
            return Ok(Image { kind: ImageKind::Fatbin, bytes });
        }
        if bytes.starts_with(ARCHIVE) {
            return Ok(Image { kind: ImageKind::Library, bytes });
        }
        // The text may include the terminating NUL.
        let text = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
        match std::str::from_utf8(text) {
            Ok(ptx) => Self::ptx(ptx),
            Err(_) => Err(Error::invalid("the image is neither PTX nor a cubin, a fatbin, an object or an archive")),
        }
    }

    /// The text of a PTX module.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::{Image, ImageKind};
    ///
    /// let image = Image::ptx(".version 7.8\n.target sm_75\n").unwrap();
    /// assert_eq!((image.kind(), image.bytes().len()), (ImageKind::Ptx, 27));
    /// assert_eq!(image.text().unwrap(), ".version 7.8\n.target sm_75\n");
    /// assert_eq!(Image::ptx("\0").unwrap_err().to_string(), "PTX has a NUL byte at offset 0");
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a text with a NUL in it.
    pub fn ptx(text: &str) -> Result<Self> {
        match text.bytes().position(|byte| byte == 0) {
            Some(at) => Err(Error::invalid(format!("PTX has a NUL byte at offset {at}"))),
            None => Ok(Image { kind: ImageKind::Ptx, bytes: text.bytes().chain([0]).collect() }),
        }
    }

    /// The image in a file.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = cuda_driver::Image::from_file("/nowhere/kernel.cubin").unwrap_err();
    /// assert!(error.to_string().starts_with("cannot read the image /nowhere/kernel.cubin"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the file cannot be read, which names it; else as [`from_bytes`](Image::from_bytes).
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|error| Error::invalid(format!("cannot read the image {}: {error}", path.display())))?;
        Self::from_bytes(bytes)
    }

    /// The format of the code.
    #[must_use]
    pub fn kind(&self) -> ImageKind {
        self.kind
    }

    /// The bytes, without the terminating NUL of PTX.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self.kind {
            ImageKind::Ptx => &self.bytes[..self.bytes.len() - 1],
            _ => &self.bytes,
        }
    }

    /// The text of PTX; `None` for other formats.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        (self.kind == ImageKind::Ptx).then(|| String::from_utf8_lossy(self.bytes()))
    }

    /// The address and the length, including the NUL.
    pub(crate) fn raw(&self) -> (*const c_void, usize) {
        (self.as_ptr(), self.bytes.len())
    }

    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.bytes.as_ptr().cast()
    }

    /// An image that a driver has linked, trusted to be complete: a cubin, or PTX in place of one.
    pub(crate) fn linked(bytes: &[u8]) -> Self {
        let kind = if bytes.starts_with(ELF) { ImageKind::Cubin } else { ImageKind::Ptx };
        let end = (kind == ImageKind::Ptx && bytes.last() != Some(&0)).then_some(0);
        Image { kind, bytes: bytes.iter().copied().chain(end).collect() }
    }
}

/// The little-endian number of `size` bytes at an offset.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The size of an ELF file by its header of 64 bytes: the end of the section table or the segment table.
fn elf_size(bytes: &[u8]) -> u64 {
    let end = |offset: usize, entry: usize| {
        number(bytes, offset, 8).saturating_add(number(bytes, entry, 2) * number(bytes, entry + 2, 2))
    };
    end(32, 54).max(end(40, 58))
}

/// The size of a fatbin by its header of 16 bytes.
fn fatbin_size(bytes: &[u8]) -> u64 {
    number(bytes, 6, 2).saturating_add(number(bytes, 8, 8))
}

/// Refuses truncated machine code, which the driver would read beyond its end.
fn check_complete(kind: &str, bytes: &[u8], head: usize, size: fn(&[u8]) -> u64) -> Result<()> {
    let has = bytes.len();
    let needs = if has < head { head as u64 } else { size(bytes) };
    if (has as u64) < needs {
        let text = format!("the {kind} ends early: it has {has} bytes, and needs at least {needs}");
        return Err(Error::invalid(text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        Image::from_bytes(bytes.to_vec()).unwrap_err().to_string()
    }

    fn fatbin(size: u64) -> Vec<u8> {
        [FATBIN, &1_u16.to_le_bytes(), &16_u16.to_le_bytes(), &size.to_le_bytes(), &[0; 8]].concat()
    }

    /// A header of 64 bytes whose section table ends at 64 + 2 * 64.
    fn elf(machine: u16, room: usize) -> Vec<u8> {
        let mut bytes = vec![0; room];
        bytes[..4].copy_from_slice(ELF);
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[40] = 64;
        bytes[58] = 64;
        bytes[60] = 2;
        bytes
    }

    #[test]
    fn first_bytes_tell_the_kind() {
        let kind = |bytes: Vec<u8>| Image::from_bytes(bytes).unwrap().kind();
        assert_eq!(kind(b"// a comment\n.version 8.0\0".to_vec()), ImageKind::Ptx);
        assert_eq!(kind(elf(CUDA_MACHINE, 192)), ImageKind::Cubin);
        assert_eq!(kind(elf(62, 192)), ImageKind::Object);
        assert_eq!(kind(fatbin(8)), ImageKind::Fatbin);
        assert_eq!(kind(b"!<arch>\n".to_vec()), ImageKind::Library);
    }

    #[test]
    fn truncated_and_unknown_images_are_refused() {
        assert_eq!(refusal(&elf(CUDA_MACHINE, 191)), "the cubin ends early: it has 191 bytes, and needs at least 192");
        assert_eq!(refusal(&elf(62, 100)), "the object ends early: it has 100 bytes, and needs at least 192");
        assert_eq!(refusal(&fatbin(9)), "the fatbin ends early: it has 24 bytes, and needs at least 25");
        assert_eq!(
            refusal(&fatbin(u64::MAX)),
            format!("the fatbin ends early: it has 24 bytes, and needs at least {}", u64::MAX)
        );
        assert_eq!(refusal(&[0xff, 0xfe]), "the image is neither PTX nor a cubin, a fatbin, an object or an archive");
        assert_eq!(refusal(b"a\0b\0"), "PTX has a NUL byte at offset 1");
        assert!(Image::from_file("/nowhere/k.cubin").unwrap_err().to_string().contains("/nowhere/k.cubin"));
    }

    #[test]
    fn the_terminating_nul_is_for_the_driver_only() {
        let image = Image::ptx("abc").unwrap();
        assert_eq!((image.raw().1, image.bytes(), image.text().as_deref()), (4, &b"abc"[..], Some("abc")));
        assert_eq!(Image::linked(b"abc\0"), image);
        assert_eq!(Image::linked(b"abc"), image);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = Image::from_file("/nowhere/kernel.cubin").unwrap_err().to_string();
        assert!(error.starts_with("cannot read the image /nowhere/kernel.cubin: No such file"), "{error}");
    }
}
