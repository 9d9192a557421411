//! [`Error`]: all errors of this crate. They name the rank, the operation and the peer.
//!
//! # Safety
//!
//! The blocks ask NCCL for texts, which are C strings that live as long as the library, or until the thread's next call.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use cuda_sys::MissingSymbol;
use cuda_sys::nccl::{NcclApi, ncclComm_t, ncclResult_t};

/// The result of this crate's calls.
///
/// # Examples
///
/// ```
/// fn wait(communicator: &cuda_nccl::Communicator, stream: &cuda_driver::Stream) -> cuda_nccl::Result<()> {
///     communicator.wait(stream)
/// }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a communicator, or the reason why no call was made.
///
/// # Examples
///
/// ```
/// use cuda_nccl::{Nccl, Error};
/// use cuda_sys::nccl::NcclApi;
///
/// // SAFETY: the table holds no function.
/// let nothing = Nccl::new(unsafe { NcclApi::from_fns(&Default::default()) }.into());
/// let Err(Error::MissingSymbol(missing)) = nothing.unique_id() else { panic!() };
/// assert_eq!(missing.symbol().name, "ncclGetUniqueId");
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// NCCL returned a status other than success.
    #[error(transparent)]
    Nccl(Box<NcclError>),
    /// MPI returned a code other than success.
    #[error(transparent)]
    Mpi(Box<MpiError>),
    /// The communicator was given up: work did not end, or a peer did not come, within the time limit.
    #[error(transparent)]
    Timeout(Box<Timeout>),
    /// The communicator failed before, so that the call was not made.
    #[error(transparent)]
    Failed(Box<Failed>),
    /// Two arrays, or an array and the number of ranks, do not fit. NCCL was not called.
    #[error(transparent)]
    Length(Box<LengthError>),
    /// The arguments are invalid; NCCL was not called.
    #[error("{0}")]
    Invalid(Box<str>),
    /// The library cannot be opened.
    #[error("{0}")]
    Load(Box<str>),
    /// The library lacks the function.
    #[error(transparent)]
    MissingSymbol(#[from] MissingSymbol),
    /// The ranks could not find each other.
    #[error(transparent)]
    Bootstrap(#[from] crate::bootstrap::BootstrapError),
    /// An error of the arrays.
    #[error(transparent)]
    Memory(#[from] cuda_mem::Error),
    /// An error of the driver.
    #[error(transparent)]
    Driver(#[from] cuda_driver::Error),
}

impl Error {
    /// NCCL's status code, where NCCL gave one, also of the first cause of a failed communicator.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = cuda_nccl::Error::Driver(cuda_driver::Error::other(std::fmt::Error));
    /// assert_eq!(error.code(), None);
    /// ```
    #[must_use]
    pub fn code(&self) -> Option<ncclResult_t> {
        match self {
            Error::Nccl(error) => Some(error.code),
            Error::Failed(failed) => failed.cause.code(),
            _ => None,
        }
    }

    /// An [`Error::Invalid`] with this text.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Error::Invalid(text.into().into_boxed_str())
    }
}

impl From<Error> for cuda_driver::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Driver(error) => error,
            Error::Memory(error) => error.into(),
            other => cuda_driver::Error::other(other),
        }
    }
}

/// The rank, the operation and the peer that an error is about.
///
/// # Examples
///
/// ```
/// let subject = cuda_nccl::Subject { rank: 1, size: 4, operation: "send", peer: Some(3) };
/// assert_eq!(subject.to_string(), "rank 1 of 4: `send` to rank 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The calling rank.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// The operation's name, such as `all_reduce`.
    pub operation: &'static str,
    /// The rank at the other end of a `send` or `recv`, or the root.
    pub peer: Option<usize>,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}: `{}`", self.rank, self.size, self.operation)?;
        match (self.peer, self.operation) {
            (Some(peer), "send") => write!(f, " to rank {peer}"),
            (Some(peer), "recv") => write!(f, " from rank {peer}"),
            (Some(peer), _) => write!(f, " with root {peer}"),
            (None, _) => Ok(()),
        }
    }
}

/// A status of NCCL other than success.
///
/// # Examples
///
/// ```
/// fn is_lost(error: &cuda_nccl::NcclError) -> bool {
///     error.code == cuda_sys::nccl::ncclResult_t::ncclRemoteError
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NcclError {
    /// The status code.
    pub code: ncclResult_t,
    /// The C function that returned it, or that found it for work that was enqueued before.
    pub call: &'static str,
    /// The rank, the operation and the peer; `None` for a call that belongs to no communicator.
    pub subject: Option<Subject>,
    /// NCCL's one-line text of the code.
    pub text: String,
    /// NCCL's message of the last error; empty where it has none.
    pub detail: String,
}

impl NcclError {
    /// The error of a status, with NCCL's texts.
    #[cold]
    pub(crate) fn new(
        api: &NcclApi,
        comm: Option<NonNull<cuda_sys::nccl::ncclComm>>,
        code: ncclResult_t,
        call: &'static str,
        subject: Option<Subject>,
    ) -> NcclError {
        let raw: ncclComm_t = comm.map_or(std::ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: the function takes a number and returns a C string, or null.
        let text = api.ncclGetErrorString().map(|text| c_text(unsafe { text(code) }));
        // SAFETY: the communicator is live or null, which asks for the process's last error.
        let detail = api.ncclGetLastError().map(|last| c_text(unsafe { last(raw) }));
        NcclError { code, call, subject, text: text.unwrap_or_default(), detail: detail.unwrap_or_default() }
    }

    /// The result of a call that belongs to no communicator.
    pub(crate) fn check_global(api: &NcclApi, code: ncclResult_t, call: &'static str) -> Result<()> {
        match code {
            ncclResult_t::ncclSuccess => Ok(()),
            code => Err(Error::Nccl(Box::new(NcclError::new(api, None, code, call, None)))),
        }
    }
}

/// The text at a C string's address; empty for null.
fn c_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: NCCL's texts are C strings, which live at least until the thread's next call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
}

impl fmt::Display for NcclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = self.subject {
            write!(f, "{subject}: ")?;
        }
        write!(f, "{}: {:?} ({})", self.call, self.code, self.code.0)?;
        for text in [&self.text, &self.detail] {
            if !text.is_empty() {
                write!(f, ": {text}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for NcclError {}

/// A code of MPI other than success.
///
/// # Examples
///
/// ```
/// fn text(error: &cuda_nccl::MpiError) -> &str {
///     &error.text
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MpiError {
    /// The code.
    pub code: std::ffi::c_int,
    /// The C function that returned it.
    pub call: &'static str,
    /// The rank, the operation and the peer; `None` for a call that belongs to no operation.
    pub subject: Option<Subject>,
    /// MPI's text of the code.
    pub text: String,
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = self.subject {
            write!(f, "{subject}: ")?;
        }
        write!(f, "{}: code {}: {}", self.call, self.code, self.text)
    }
}

impl std::error::Error for MpiError {}

/// A time limit that has passed; the communicator was aborted.
///
/// # Examples
///
/// ```
/// fn rank(error: &cuda_nccl::Timeout) -> usize {
///     error.subject.rank
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeout {
    /// The rank, and the last operation that it enqueued.
    pub subject: Subject,
    /// The time limit.
    pub limit: Duration,
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Timeout { subject, limit } = self;
        write!(
            f,
            "{subject} did not finish within {limit:?}, and the communicator was aborted; a rank was lost, has not made the \
             call, or makes its calls in another order (`Options::timeout` sets the limit)"
        )
    }
}

impl std::error::Error for Timeout {}

/// A call that was not made because the communicator had failed.
///
/// # Examples
///
/// ```
/// fn cause(error: &cuda_nccl::Failed) -> String {
///     error.cause.to_string()
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failed {
    /// The call that was refused.
    pub subject: Subject,
    /// The first error.
    pub cause: Arc<Error>,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} not called: the communicator has failed before: {}", self.subject, self.cause)
    }
}

impl std::error::Error for Failed {}

/// Two lengths that do not fit. NCCL was not called.
///
/// # Examples
///
/// ```
/// fn lengths(error: &cuda_nccl::LengthError) -> (usize, usize) {
///     (error.first, error.second)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LengthError {
    /// The rank and the operation.
    pub subject: Subject,
    /// The length of the first array, in elements.
    pub first: usize,
    /// The length of the second array, in elements, or the number of parts that the first has to be divided into.
    pub second: usize,
    /// The rule that they break.
    pub(crate) rule: Rule,
}

/// A rule about two lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Source and destination have the same length.
    Same,
    /// The destination is as many times as long as the source as there are ranks.
    Gathered,
    /// The source is as many times as long as the destination as there are ranks.
    Scattered,
    /// The array is divided among the ranks.
    Divided,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LengthError { subject, first, second, rule } = self;
        let size = subject.size;
        write!(f, "{subject}: ")?;
        match rule {
            Rule::Same => {
                write!(f, "the source has {first} elements and the destination {second}; they must be as long")
            }
            Rule::Gathered => write!(
                f,
                "the source has {first} elements and the destination {second}; with {size} ranks the destination must have {}",
                first.saturating_mul(size)
            ),
            Rule::Scattered => write!(
                f,
                "the source has {first} elements and the destination {second}; with {size} ranks the source must have {}",
                second.saturating_mul(size)
            ),
            Rule::Divided => write!(f, "{first} elements cannot be divided among {second} ranks"),
        }
    }
}

impl std::error::Error for LengthError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(operation: &'static str, peer: Option<usize>) -> Subject {
        Subject { rank: 1, size: 4, operation, peer }
    }

    #[test]
    fn lengths_are_named_with_the_rule() {
        let of = |rule| LengthError { subject: subject("gather", Some(2)), first: 3, second: 5, rule }.to_string();
        assert_eq!(
            of(Rule::Gathered),
            "rank 1 of 4: `gather` with root 2: the source has 3 elements and the destination 5; with 4 ranks the destination \
             must have 12"
        );
        assert!(of(Rule::Scattered).ends_with("with 4 ranks the source must have 20"));
        assert!(of(Rule::Same).ends_with("the source has 3 elements and the destination 5; they must be as long"));
        assert!(of(Rule::Divided).ends_with("3 elements cannot be divided among 5 ranks"));
    }

    #[test]
    fn a_status_is_named_with_call_peer_and_texts() {
        let error = NcclError {
            code: ncclResult_t::ncclRemoteError,
            call: "ncclRecv",
            subject: Some(subject("recv", Some(3))),
            text: "remote process exited or there was a network error".into(),
            detail: String::new(),
        };
        assert_eq!(
            error.to_string(),
            "rank 1 of 4: `recv` from rank 3: ncclRecv: ncclRemoteError (6): remote process exited or there was a network \
             error"
        );
        let failed = Failed { subject: subject("all_reduce", None), cause: Arc::new(Error::Nccl(Box::new(error))) };
        assert!(failed.to_string().starts_with(
            "rank 1 of 4: `all_reduce` not called: the communicator has failed before: rank 1 of 4: `recv` from rank 3"
        ));
        assert_eq!(Error::Failed(Box::new(failed)).code(), Some(ncclResult_t::ncclRemoteError));
    }

    #[test]
    fn a_code_of_mpi_is_named_with_rank_call_and_text() {
        let text = "MPI_ERR_TRUNCATE: message truncated".to_owned();
        let error = MpiError { code: 15, call: "MPI_Irecv", subject: Some(subject("recv", Some(3))), text };
        assert_eq!(
            error.to_string(),
            "rank 1 of 4: `recv` from rank 3: MPI_Irecv: code 15: MPI_ERR_TRUNCATE: message truncated"
        );
    }

    #[test]
    fn a_time_limit_is_named_with_the_operation_and_what_to_look_for() {
        let text = Timeout { subject: subject("send", Some(0)), limit: Duration::from_secs(2) }.to_string();
        assert!(text.starts_with("rank 1 of 4: `send` to rank 0 did not finish within 2s"), "{text}");
    }
}
