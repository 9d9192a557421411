//! [`Comm`]: a communicator of MPI that this crate has to itself, whose errors are returned.
//!
//! # Safety
//!
//! The blocks call MPI with a live handle, which [`Comm`] owns, and with pointers to variables that live through the call. MPI
//! may be called between its initialisation and its end, which each constructor and the destructor ask for.

use std::ffi::c_int;
use std::time::Duration;

use mpi::ffi;

use crate::call::Place;
use crate::error::{Error, MpiError, Result, Subject, Timeout};
use crate::pause::Pause;

/// A communicator of MPI, duplicated so that no message of others gets into it.
pub(crate) struct Comm {
    raw: ffi::MPI_Comm,
    pub(crate) place: Place,
}

// SAFETY: a handle is a name, which any thread may give to MPI. Those who use it from several threads at a time ask for
// `MPI_THREAD_MULTIPLE` before.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

/// The code of success.
const SUCCESS: c_int = ffi::MPI_SUCCESS as c_int;

/// The result of a call of MPI with this code.
pub(crate) fn check(code: c_int, call: &'static str, subject: Option<Subject>) -> Result<()> {
    if code == SUCCESS { Ok(()) } else { Err(failure(code, call, subject)) }
}

/// The error of a code other than success, with MPI's text.
#[cold]
pub(crate) fn failure(code: c_int, call: &'static str, subject: Option<Subject>) -> Error {
    let mut text = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut len = 0;
    // SAFETY: the text has room for the longest one, and both live through the call.
    let found = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut len) };
    let len = usize::try_from(len).unwrap_or(0).min(text.len());
    let text = if found == SUCCESS { String::from_utf8_lossy(&text[..len]).trim().to_owned() } else { String::new() };
    Error::Mpi(Box::new(MpiError { code, call, subject, text }))
}

/// Returns an error unless MPI can be called.
fn expect_running() -> Result<()> {
    let (mut begun, mut ended) = (0, 0);
    // SAFETY: the flag lives through the call, which is allowed at any time.
    unsafe { ffi::MPI_Initialized(&mut begun) };
    // SAFETY: as above.
    unsafe { ffi::MPI_Finalized(&mut ended) };
    match (begun != 0, ended != 0) {
        (true, false) => Ok(()),
        (false, _) => Err(Error::invalid(
            "MPI is not initialised: keep the value of `mpi::initialize_with_threading(mpi::Threading::Multiple)` while \
             communicators are in use",
        )),
        (_, true) => {
            Err(Error::invalid("MPI was finalised before: the value that its initialisation returned was dropped"))
        }
    }
}

/// Returns an error unless several threads may call MPI at a time.
pub(crate) fn expect_threads() -> Result<()> {
    expect_running()?;
    let mut provided = 0;
    // SAFETY: the number lives through the call.
    check(unsafe { ffi::MPI_Query_thread(&mut provided) }, "MPI_Query_thread", None)?;
    // SAFETY: the constant is never written.
    if provided >= unsafe { ffi::RSMPI_THREAD_MULTIPLE } {
        return Ok(());
    }
    Err(Error::invalid(
        "MPI was initialised without MPI_THREAD_MULTIPLE, which a communicator over MPI needs, since a thread of its own \
         calls MPI: call `mpi::initialize_with_threading(mpi::Threading::Multiple)`",
    ))
}

impl Comm {
    /// A duplicate of a communicator. All its processes call it.
    pub(crate) fn duplicate(raw: ffi::MPI_Comm) -> Result<Comm> {
        expect_running()?;
        // SAFETY: the constant is never written.
        let mut new = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: the caller's handle is that of a live communicator, and the new one lives through the call.
        check(unsafe { ffi::MPI_Comm_dup(raw, &mut new) }, "MPI_Comm_dup", None)?;
        Comm::own(new)
    }

    /// A new handle, whose errors are returned from now on.
    fn own(raw: ffi::MPI_Comm) -> Result<Comm> {
        let mut comm = Comm { raw, place: Place { rank: 0, size: 1 } };
        // SAFETY: the handle is live, and the constant is never written.
        let set = unsafe { ffi::MPI_Comm_set_errhandler(raw, ffi::RSMPI_ERRORS_RETURN) };
        check(set, "MPI_Comm_set_errhandler", None)?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the handle is live, and the number lives through the call.
        check(unsafe { ffi::MPI_Comm_rank(raw, &mut rank) }, "MPI_Comm_rank", None)?;
        // SAFETY: as above.
        check(unsafe { ffi::MPI_Comm_size(raw, &mut size) }, "MPI_Comm_size", None)?;
        let number = |value: c_int| {
            usize::try_from(value).map_err(|_| Error::invalid(format!("MPI reports rank {rank} of {size}")))
        };
        comm.place = Place { rank: number(rank)?, size: number(size)? };
        Ok(comm)
    }

    /// The handle.
    pub(crate) fn raw(&self) -> ffi::MPI_Comm {
        self.raw
    }

    /// The communicator of the processes of one color, ordered by key. All processes call it; it waits for them no longer than
    /// the limit.
    pub(crate) fn split(&self, color: Option<u32>, key: i32, limit: Duration) -> Result<Option<Comm>> {
        let color = match color.map(c_int::try_from) {
            // SAFETY: the constant is never written.
            None => unsafe { ffi::RSMPI_UNDEFINED },
            Some(Ok(color)) => color,
            Some(Err(_)) => {
                return Err(Error::invalid(format!("rank {}: a color is at most {}", self.place.rank, i32::MAX)));
            }
        };
        self.meet("split", limit)?;
        // SAFETY: the constant is never written.
        let mut new = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: the handle is live, and the new one lives through the call.
        let split = unsafe { ffi::MPI_Comm_split(self.raw, color, key, &mut new) };
        check(split, "MPI_Comm_split", Some(self.place.subject("split", None)))?;
        // SAFETY: the constant is never written.
        let none = new == unsafe { ffi::RSMPI_COMM_NULL };
        if none { Ok(None) } else { Comm::own(new).map(Some) }
    }

    /// The communicator of the processes that share memory with this one: those of its machine.
    pub(crate) fn of_machine(&self) -> Result<Comm> {
        // SAFETY: the constant is never written.
        let mut new = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: the handle is live, the new one lives through the call, and no information is given.
        let split = unsafe {
            ffi::MPI_Comm_split_type(
                self.raw,
                ffi::RSMPI_COMM_TYPE_SHARED,
                self.place.rank as c_int,
                ffi::RSMPI_INFO_NULL,
                &mut new,
            )
        };
        check(split, "MPI_Comm_split_type", None)?;
        Comm::own(new)
    }

    /// Waits until all processes call it, no longer than the limit.
    pub(crate) fn meet(&self, operation: &'static str, limit: Duration) -> Result<()> {
        let subject = self.place.subject(operation, None);
        // SAFETY: the constant is never written.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the handle is live, and the request is completed below, or left to MPI, which owns it.
        check(unsafe { ffi::MPI_Ibarrier(self.raw, &mut request) }, "MPI_Ibarrier", Some(subject))?;
        let mut pause = Pause::new(limit);
        while !test(&mut request, "MPI_Ibarrier", subject)? {
            if !pause.wait() {
                return Err(Error::Timeout(Box::new(Timeout { subject, limit })));
            }
        }
        Ok(())
    }

    /// The smallest of the numbers of all processes.
    pub(crate) fn min(&self, own: i32) -> Result<i32> {
        let mut least = 0_i32;
        // SAFETY: the handle is live, and both numbers live through the call.
        let code = unsafe {
            ffi::MPI_Allreduce(
                std::ptr::from_ref(&own).cast(),
                std::ptr::from_mut(&mut least).cast(),
                1,
                ffi::RSMPI_INT32_T,
                ffi::RSMPI_MIN,
                self.raw,
            )
        };
        check(code, "MPI_Allreduce", None)?;
        Ok(least)
    }

    /// Copies the bytes of rank 0 to all processes.
    pub(crate) fn broadcast(&self, bytes: &mut [u8]) -> Result<()> {
        let len = c_int::try_from(bytes.len()).map_err(|_| Error::invalid("too many bytes for a broadcast"))?;
        // SAFETY: the handle is live, and the bytes live through the call.
        let code = unsafe { ffi::MPI_Bcast(bytes.as_mut_ptr().cast(), len, ffi::RSMPI_UINT8_T, 0, self.raw) };
        check(code, "MPI_Bcast", None)
    }
}

/// Returns true if the request has completed; then MPI has freed it.
pub(crate) fn test(request: &mut ffi::MPI_Request, call: &'static str, subject: Subject) -> Result<bool> {
    let mut done = 0;
    // SAFETY: the request is live or null, the flag lives through the call, and no status is asked for.
    let code = unsafe { ffi::MPI_Test(request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
    check(code, call, Some(subject))?;
    Ok(done != 0)
}

impl Drop for Comm {
    fn drop(&mut self) {
        if expect_running().is_ok() {
            // SAFETY: the handle is live, is not used again, and MPI is running.
            let code = unsafe { ffi::MPI_Comm_free(&mut self.raw) };
            if code != SUCCESS {
                tracing::warn!(code, "a communicator of MPI could not be freed");
            }
        }
    }
}
