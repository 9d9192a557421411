//! A tracing driver for tests: a table of functions that records every call, tracks live objects, fails on demand, and
//! checks that accesses to device memory are ordered.
//!
//! It is no device: it runs no kernels, and its streams do their work at once. It models order: every stream, every
//! event and the host has a vector clock. An access to memory that is not ordered after a conflicting one is a
//! violation, as is any use of an object that is not live. A test whose [`Session`] ends with violations or leaks
//! fails.
//!
//! A launch of a function named `k_` and letters takes one device pointer per letter, and reads (`r`) or writes (`w`) it.
//!
//! The state is one for the process, because C functions carry none: a [`Session`] holds it, so tests take turns.
//!
//! # Safety
//!
//! The functions trust the pointers that they get, as a driver does; addresses of device memory are addresses of live
//! heap allocations that the state owns.

mod clocks;
mod copies;
mod functions;
mod graphs;
mod host;
mod settings;
mod sharing;
mod state;

use std::cell::Cell;
use std::sync::Arc;

use cuda_driver::{Context, Driver};
use cuda_sys::{CUresult, DriverApi};
use parking_lot::{Mutex, MutexGuard};

use state::State;
pub(crate) use state::{Call, Live};

static TURN: Mutex<()> = Mutex::new(());
static STATE: Mutex<Option<State>> = Mutex::new(None);

/// One test's use of the tracing driver.
pub(crate) struct Session {
    api: Arc<DriverApi>,
    /// True if leaks are expected, see [`Session::leaves`].
    leaves: Cell<bool>,
    _turn: MutexGuard<'static, ()>,
}

/// The capabilities of the traced device.
#[derive(Clone, Copy)]
pub(crate) struct Traits {
    pub(crate) memory_pools: bool,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self::with(Traits { memory_pools: true })
    }

    pub(crate) fn with(traits: Traits) -> Self {
        let turn = TURN.lock();
        *STATE.lock() = Some(State::new(traits));
        // SAFETY: the traced functions write what the manual says, or nothing.
        let api = Arc::new(unsafe { DriverApi::from_fns(&functions::table()) });
        Session { api, leaves: Cell::new(false), _turn: turn }
    }

    pub(crate) fn api(&self) -> Arc<DriverApi> {
        self.api.clone()
    }

    pub(crate) fn driver(&self) -> Driver {
        Driver::new(self.api()).expect("the traced driver starts")
    }

    pub(crate) fn context(&self) -> Context {
        self.driver().device(0).and_then(|device| device.primary_context()).expect("the traced device has a context")
    }

    /// The calls since the start or the last [`Session::forget`].
    pub(crate) fn calls(&self) -> Vec<Call> {
        state(|state| state.calls.clone())
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        state(|state| state.calls.iter().map(|call| call.name).collect())
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        state(|state| state.calls.iter().filter(|call| call.name == name).count())
    }

    pub(crate) fn forget(&self) {
        state(|state| state.calls.clear());
    }

    /// Makes the `nth` call of `name` from now, counted from 1, return `code` without doing anything.
    pub(crate) fn fail(&self, name: &'static str, nth: usize, code: CUresult) {
        state(|state| state.faults.push((name, nth, code)));
    }

    /// Makes the `nth` call of `name` from now fail with an error that loses the context.
    pub(crate) fn lose(&self, name: &'static str, nth: usize) {
        self.leaves();
        self.fail(name, nth, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    }

    /// From now on the driver does not wait, as inside a host function of a stream.
    pub(crate) fn never_waits(&self) {
        state(|state| state.never_waits = true);
    }

    /// The present numbers of live objects.
    pub(crate) fn live(&self) -> Live {
        state(|state| state.live())
    }

    /// A violation if work still accesses host memory whose borrow has ended.
    pub(crate) fn give_back<T>(&self, memory: &[T]) {
        let (address, bytes) = (memory.as_ptr().addr() as u64, size_of_val(memory));
        state(|state| state.host_touches("the owner", address, bytes));
    }

    /// Ends the session here: the test has dropped its objects by now.
    pub(crate) fn finish(self) {
        drop(self);
    }

    /// Expects objects to stay live at the end, because their context is lost or the driver was made to refuse their
    /// release.
    pub(crate) fn leaves(&self) {
        self.leaves.set(true);
    }

    /// Takes the violations so far, which the test expects.
    pub(crate) fn take_violations(&self) -> Vec<String> {
        state(|state| std::mem::take(&mut state.violations))
    }
}

impl Drop for Session {
    /// Fails the test if an object is still live, or was used out of order or when it was not live.
    fn drop(&mut self) {
        let (violations, live) = state(|state| (std::mem::take(&mut state.violations), state.live()));
        if std::thread::panicking() {
            return;
        }
        assert!(violations.is_empty(), "violations: {violations:#?}");
        assert!(self.leaves.get() || live == Live::default(), "leaked: {live:?}");
    }
}

/// Uses the state of the session that runs now.
fn state<R>(work: impl FnOnce(&mut State) -> R) -> R {
    work(STATE.lock().as_mut().expect("a session runs"))
}
