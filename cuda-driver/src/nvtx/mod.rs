//! NVTX: ranges, marks and names that a program shows to profilers such as Nsight Systems.
//!
//! A [`range`] covers the work of a thread until its guard is dropped; a [`started`](start) range may end on another
//! thread, or overlap others; a [`mark`] is a moment. Each takes a text, or an [`Annotation`] with a colour, a category
//! and a number. A library has its own [`Domain`], so that its users can tell its ranges from theirs, or filter them
//! out.
//!
//! The tool is loaded at the first use: a profiler sets `NVTX_INJECTION64_PATH` for the programs that it starts.
//! Without a tool, everything here does nothing and costs about two loads. No function returns an error, except
//! [`require_tool`] for programs that need a tool. No driver and no device is needed.
//!
//! C ends a text at its first NUL byte. NUL bytes within a text are shown as `␀`.
//!
//! # Examples
//!
//! ```
//! use cuda_driver::nvtx::{self, Annotation, Color, Domain};
//!
//! {
//!     let _whole = nvtx::range("load the matrix");
//!     nvtx::mark("the file is open");
//! } // the range ends here
//!
//! let domain = Domain::new("my library");
//! let io = domain.category("input and output");
//! let block = domain.name("read a block");        // cheaper for repeated texts
//! for number in 0..3_u64 {
//!     let _range = domain.range(Annotation::from(&block).color(Color::GREEN).category(&io).payload(number));
//! }
//! ```
//!
//! See the [NVTX manual](https://nvidia.github.io/NVTX/doxygen/index.html).
//!
//! # Safety
//!
//! The `unsafe` blocks call NVTX with C strings and attributes that live through the call, and with handles that the
//! calling objects hold.

mod annotation;

use std::ffi::{CString, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use cuda_sys::nvtx as sys;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::stream::event::Event;
use crate::sync::statics::LazyLock;
use crate::sync::{Arc, Counter};

pub use annotation::{Annotation, Color, Payload};

/// The library of the tool that listens to this process, if there is one.
///
/// # Examples
///
/// ```
/// if let Some(tool) = cuda_driver::nvtx::tool() {
///     println!("{} listens", tool.display());
/// }
/// ```
#[must_use]
pub fn tool() -> Option<&'static Path> {
    sys::tool()
}

/// As [`tool`], for a program that needs a tool.
///
/// # Examples
///
/// ```
/// # if std::env::var_os("NVTX_INJECTION64_PATH").is_none() {
/// let error = cuda_driver::nvtx::require_tool().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "no tool listens to NVTX: NVTX_INJECTION64_PATH is not set; start the program under a profiler, such as `nsys profile`"
/// );
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Invalid`] if no tool listens, with the variable that names one.
pub fn require_tool() -> Result<&'static Path> {
    let variable = "NVTX_INJECTION64_PATH";
    tool().ok_or_else(|| match std::env::var_os(variable) {
        None => Error::invalid(format!(
            "no tool listens to NVTX: {variable} is not set; start the program under a profiler, such as `nsys profile`"
        )),
        Some(path) => Error::invalid(format!(
            "no tool listens to NVTX: {variable}={} is no library that can be opened and starts",
            path.display()
        )),
    })
}

/// A text as a C string.
fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| CString::new(text.replace('\0', "␀")).unwrap_or_default())
}

/// A namespace of ranges, marks, categories and names. Clones mean the same domain, which ends with the last clone and
/// the last object in it.
///
/// # Examples
///
/// ```
/// let domain = cuda_driver::nvtx::Domain::new("my library");
/// domain.mark("ready");
/// let _range = domain.range("work");
/// ```
#[derive(Clone)]
pub struct Domain(Arc<Registered>);

/// A domain as the tool knows it.
struct Registered {
    name: String,
    /// Null for the global domain, and where no tool handles domains.
    raw: sys::nvtxDomainHandle_t,
    /// True for the global domain.
    global: bool,
    categories: Counter,
}

// SAFETY: tools accept the handle on any thread.
unsafe impl Send for Registered {}
// SAFETY: tools accept the handle on any thread.
unsafe impl Sync for Registered {}

/// The global domain, which all programs share.
static GLOBAL: LazyLock<Domain> = LazyLock::new(|| {
    let (name, raw) = (String::new(), std::ptr::null_mut());
    Domain(Arc::new(Registered { name, raw, global: true, categories: Counter::new() }))
});

impl Drop for Registered {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the domain was made for this object, and nothing else holds it.
            unsafe { sys::nvtxDomainDestroy(self.raw) };
        }
    }
}

impl Domain {
    /// A domain with a name, by convention that of the library.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let raw = match tool() {
            // SAFETY: the name is a C string that lives through the call.
            Some(_) => unsafe { sys::nvtxDomainCreateA(c_text(name).as_ptr()) },
            None => std::ptr::null_mut(),
        };
        Domain(Arc::new(Registered { name: name.to_owned(), raw, global: false, categories: Counter::new() }))
    }

    /// The global domain, which [`range`], [`start`] and [`mark`] use.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::nvtx::Domain;
    ///
    /// let io = Domain::global().category("input and output");
    /// cuda_driver::nvtx::mark(cuda_driver::nvtx::Annotation::new("opened").category(&io));
    /// ```
    #[must_use]
    pub fn global() -> Self {
        GLOBAL.clone()
    }

    /// Returns true if a tool receives the domain's annotations.
    fn is_enabled(&self) -> bool {
        tool().is_some() && (self.0.global || !self.0.raw.is_null())
    }

    fn is(&self, other: &Domain) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A category, by which profilers group the annotations of the domain. Each call makes another one.
    #[must_use]
    pub fn category(&self, name: &str) -> Category {
        let number = self.0.categories.next() as u32;
        if self.is_enabled() {
            let text = c_text(name);
            match self.0.global {
                // SAFETY: the name is a C string that lives through the call.
                true => unsafe { sys::nvtxNameCategoryA(number, text.as_ptr()) },
                // SAFETY: the domain is held, and all arguments live through the call.
                false => unsafe { sys::nvtxDomainNameCategoryA(self.0.raw, number, text.as_ptr()) },
            }
        }
        Category { domain: self.clone(), number }
    }

    /// Registers a text with the tool, so that repeated use of it in this domain is cheap.
    #[must_use]
    pub fn name(&self, text: &str) -> Name {
        let raw = if self.is_enabled() && !self.0.global {
            // SAFETY: the text is a C string that lives through the call; the domain is held.
            unsafe { sys::nvtxDomainRegisterStringA(self.0.raw, c_text(text).as_ptr()) }
        } else {
            std::ptr::null_mut()
        };
        Name { domain: self.clone(), text: text.to_owned(), raw }
    }

    /// Marks this moment.
    pub fn mark<'a>(&self, what: impl Into<Annotation<'a>>) {
        self.annotate(what, (), |domain, attributes| match domain {
            // SAFETY: the attributes live through the call.
            None => unsafe { sys::nvtxMarkEx(attributes) },
            // SAFETY: the domain is held, and all arguments live through the call.
            Some(domain) => unsafe { sys::nvtxDomainMarkEx(domain, attributes) },
        });
    }

    /// A range of this thread until the guard is dropped. Ranges of one thread nest: the guard that is dropped first
    /// ends the range that began last.
    pub fn range<'a>(&self, what: impl Into<Annotation<'a>>) -> Range {
        let pushed = self.annotate(what, false, |domain, attributes| {
            match domain {
                // SAFETY: the attributes live through the call.
                None => unsafe { sys::nvtxRangePushEx(attributes) },
                // SAFETY: the domain is held, and all arguments live through the call.
                Some(domain) => unsafe { sys::nvtxDomainRangePushEx(domain, attributes) },
            };
            true
        });
        Range { domain: pushed.then(|| self.clone()), _of_this_thread: PhantomData }
    }

    /// A range until the guard is dropped, on any thread; it may overlap others.
    pub fn start<'a>(&self, what: impl Into<Annotation<'a>>) -> StartedRange {
        let id = self.annotate(what, 0, |domain, attributes| match domain {
            // SAFETY: the attributes live through the call.
            None => unsafe { sys::nvtxRangeStartEx(attributes) },
            // SAFETY: the domain is held, and all arguments live through the call.
            Some(domain) => unsafe { sys::nvtxDomainRangeStartEx(domain, attributes) },
        });
        StartedRange { domain: (id != 0).then(|| self.clone()), id }
    }

    /// Calls an NVTX function with the annotation; returns `nothing` without a tool.
    fn annotate<'a, R>(
        &self,
        what: impl Into<Annotation<'a>>,
        nothing: R,
        call: impl FnOnce(Option<sys::nvtxDomainHandle_t>, *const sys::nvtxEventAttributes_t) -> R,
    ) -> R {
        if !self.is_enabled() {
            return nothing;
        }
        let what = what.into();
        let known = what.registered_in(self);
        let text = if known.is_some() { CString::default() } else { c_text(what.text()) };
        let (kind, message) = match known {
            Some(registered) => {
                (sys::nvtxMessageType_t::NVTX_MESSAGE_TYPE_REGISTERED, sys::nvtxMessageValue_t { registered })
            }
            None => {
                let ascii = text.as_ptr();
                (sys::nvtxMessageType_t::NVTX_MESSAGE_TYPE_ASCII, sys::nvtxMessageValue_t { ascii })
            }
        };
        let attributes = what.attributes(self, kind, message);
        call((!self.0.global).then_some(self.0.raw), &attributes)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain").field("name", &self.0.name).finish_non_exhaustive()
    }
}

/// A category of a [`Domain`], from [`Domain::category`].
///
/// # Examples
///
/// ```
/// let domain = cuda_driver::nvtx::Domain::new("my library");
/// let io = domain.category("input and output");
/// domain.mark(cuda_driver::nvtx::Annotation::new("opened").category(&io));
/// ```
#[derive(Clone, Debug)]
pub struct Category {
    domain: Domain,
    number: u32,
}

/// A text that is registered with a tool, from [`Domain::name`].
///
/// # Examples
///
/// ```
/// let domain = cuda_driver::nvtx::Domain::new("my library");
/// let step = domain.name("step");
/// for _ in 0..3 {
///     let _range = domain.range(&step);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Name {
    domain: Domain,
    text: String,
    raw: sys::nvtxStringHandle_t,
}

// SAFETY: tools accept the handle on any thread while its domain lives, which is held.
unsafe impl Send for Name {}
// SAFETY: tools accept the handle on any thread.
unsafe impl Sync for Name {}

/// A range of its thread, which ends when this is dropped; from [`range`] and [`Domain::range`].
///
/// # Examples
///
/// ```
/// let range: cuda_driver::nvtx::Range = cuda_driver::nvtx::range("until it is dropped");
/// drop(range);
/// ```
#[derive(Debug)]
#[must_use = "the range ends when the guard is dropped"]
pub struct Range {
    /// `None` without a tool.
    domain: Option<Domain>,
    /// The tool ends the last range of the calling thread.
    _of_this_thread: PhantomData<*const c_void>,
}

impl Drop for Range {
    fn drop(&mut self) {
        match &self.domain {
            None => {}
            // SAFETY: the function takes no arguments.
            Some(domain) if domain.0.global => drop(unsafe { sys::nvtxRangePop() }),
            // SAFETY: the domain is held.
            Some(domain) => drop(unsafe { sys::nvtxDomainRangePop(domain.0.raw) }),
        }
    }
}

/// A range that ends when this is dropped, on any thread; from [`start`] and [`Domain::start`].
///
/// # Examples
///
/// ```
/// let range: cuda_driver::nvtx::StartedRange = cuda_driver::nvtx::start("until it is dropped, anywhere");
/// std::thread::spawn(move || drop(range)).join().unwrap();
/// ```
#[derive(Debug)]
#[must_use = "the range ends when the guard is dropped"]
pub struct StartedRange {
    /// `None` without a tool.
    domain: Option<Domain>,
    id: sys::nvtxRangeId_t,
}

impl Drop for StartedRange {
    fn drop(&mut self) {
        match &self.domain {
            None => {}
            // SAFETY: the id is that of a started range, which is ended once.
            Some(domain) if domain.0.global => unsafe { sys::nvtxRangeEnd(self.id) },
            // SAFETY: the domain is held, and all arguments live through the call.
            Some(domain) => unsafe { sys::nvtxDomainRangeEnd(domain.0.raw, self.id) },
        }
    }
}

/// A range of this thread until the guard is dropped, see [`Domain::range`].
///
/// # Examples
///
/// ```
/// let _range = cuda_driver::nvtx::range("work");
/// ```
pub fn range<'a>(what: impl Into<Annotation<'a>>) -> Range {
    GLOBAL.range(what)
}

/// A range until the guard is dropped, on any thread, see [`Domain::start`].
///
/// # Examples
///
/// ```
/// let range = cuda_driver::nvtx::start("a request");
/// std::thread::spawn(move || drop(range)).join().unwrap();
/// ```
pub fn start<'a>(what: impl Into<Annotation<'a>>) -> StartedRange {
    GLOBAL.start(what)
}

/// Marks this moment, see [`Domain::mark`].
///
/// # Examples
///
/// ```
/// cuda_driver::nvtx::mark("the input is read");
/// ```
pub fn mark<'a>(what: impl Into<Annotation<'a>>) {
    GLOBAL.mark(what);
}

/// Gives the calling thread a name.
///
/// # Examples
///
/// ```
/// cuda_driver::nvtx::name_thread("reader");
/// ```
pub fn name_thread(name: &str) {
    if tool().is_none() {
        return;
    }
    let thread = system_thread();
    // SAFETY: the name is a C string that lives through the call.
    unsafe { sys::nvtxNameOsThreadA(thread, c_text(name).as_ptr()) };
}

/// The operating system's id of the calling thread.
#[cfg(unix)]
fn system_thread() -> u32 {
    // SAFETY: the function takes no arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// The operating system's id of the calling thread.
#[cfg(windows)]
fn system_thread() -> u32 {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn GetCurrentThreadId() -> u32;
    }
    GetCurrentThreadId()
}

/// CUDA objects that profilers can show by a name: a [`Stream`], an [`Event`], a [`Context`] or a [`Device`].
pub trait Named: sealed::Sealed {
    /// Names the object in profilers.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, Stream, nvtx::Named};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// Stream::new(&context)?.name_for_profilers("uploads");
    /// # Ok(())
    /// # }
    /// ```
    fn name_for_profilers(&self, name: &str);
}

mod sealed {
    /// Keeps [`Named`](super::Named) to the objects that NVTX supports.
    pub trait Sealed {}
}

macro_rules! named {
    ($($ty:ty => $function:ident, $raw:expr;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Named for $ty {
            fn name_for_profilers(&self, name: &str) {
                let raw: fn(&$ty) -> Option<_> = $raw;
                if let Some(raw) = tool().and_then(|_| raw(self)) {
                    // SAFETY: the object is live, and the name is a C string that lives through the call.
                    unsafe { sys::$function(raw, c_text(name).as_ptr()) };
                }
            }
        }
    )*};
}

named! {
    Stream => nvtxNameCuStreamA, |stream| Some(stream.as_raw());
    Event => nvtxNameCuEventA, |event| Some(event.as_raw());
    Context => nvtxNameCuContextA, |context| Some(context.as_raw());
    Device => nvtxNameCuDeviceA, |device| device.as_raw().ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_in_a_text_is_shown_and_does_not_end_it() {
        assert_eq!(c_text("a\0b").to_str(), Ok("a␀b"));
        assert_eq!(c_text("plain").to_str(), Ok("plain"));
    }
}
