//! [`Captures`]: which threads capture graphs in a context, and what waits for that to end.
//!
//! While any of its streams is captured, a context cannot be synchronised: the driver refuses it and makes the capture
//! invalid. So other threads wait until no capture runs, a thread that would wait for itself is told, and modules that are
//! dropped meanwhile are unloaded later.
//!
//! # Safety
//!
//! The raw modules belong to the context; their owners are gone, so they are in nobody else's hands.

use cuda_sys::CUmodule;

use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::sync::{Condvar, Mutex, ThreadId, thread};

/// A context's captures.
#[derive(Default)]
pub(crate) struct Captures {
    state: Mutex<State>,
    /// Told when the last capture has ended, and when nothing is done any more that would make one invalid.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The thread of each capture that runs.
    running: Vec<ThreadId>,
    /// How many threads do what would make a capture invalid.
    blockers: usize,
    /// Modules to be unloaded when no capture runs any more.
    modules: Vec<CUmodule>,
}

// SAFETY: the raw modules are addresses that the driver accepts on any thread.
unsafe impl Send for State {}

impl Captures {
    pub(crate) fn begin(&self) {
        let mut state = self.state.lock();
        while state.blockers > 0 {
            state = self.changed.wait(state);
        }
        state.running.push(thread::current().id());
    }

    pub(crate) fn end(&self, context: &Context) {
        self.end_own(|modules| unload(context, modules));
    }

    /// Ends a capture of the calling thread; with the last one, `unload` is handed the modules that have waited.
    pub(crate) fn end_own(&self, unload: impl FnOnce(&[CUmodule])) {
        let mut state = self.state.lock();
        let own = state.running.iter().position(|thread| *thread == thread::current().id());
        own.map(|at| state.running.swap_remove(at));
        if !state.running.is_empty() {
            return;
        }
        if !state.modules.is_empty() {
            unload(&std::mem::take(&mut state.modules));
        }
        self.changed.notify_all();
    }

    /// Does something that would make a capture invalid, such as synchronising the context, while none runs and none
    /// begins.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the calling thread captures.
    pub(crate) fn while_none_active<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let mut state = self.state.lock();
        loop {
            if state.running.contains(&thread::current().id()) {
                return Err(Error::invalid(
                    "the context cannot be synchronised inside `Graph::capture`, whose work has not run; synchronise after \
                     the graph was launched, or synchronise another stream",
                ));
            }
            if state.running.is_empty() {
                break;
            }
            state = self.changed.wait(state);
        }
        state.blockers += 1;
        drop(state);
        let result = work();
        self.state.lock().blockers -= 1;
        self.changed.notify_all();
        Ok(result)
    }

    /// Unloads a module once its kernels have finished: now, or when no capture runs any more.
    pub(crate) fn unload(&self, context: &Context, module: CUmodule) {
        let mut state = self.state.lock();
        // Under the lock: a capture that begins would be made invalid by the wait.
        match state.running.is_empty() {
            true => unload(context, &[module]),
            false => state.modules.push(module),
        }
    }
}

fn unload(context: &Context, modules: &[CUmodule]) {
    if context.is_lost() {
        return;
    }
    // Launched kernels may still run the code, and the driver does not promise that unloading waits for them.
    // SAFETY: the call has no argument; the context is bound by the macro.
    let idle = unsafe { driver_call!(context, cuCtxSynchronize()) };
    let unloaded = idle.and_then(|()| {
        // SAFETY: the owners are gone, and so are the functions, which hold one; no kernel runs.
        modules.iter().try_for_each(|module| unsafe { driver_call!(context, cuModuleUnload(*module)) })
    });
    if let Err(error) = unloaded {
        tracing::warn!(%error, "a module could not be unloaded");
    }
}
