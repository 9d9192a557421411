//! [`Captures`]: the active graph captures of a context, and the operations that wait for their end.
//!
//! While any of its streams is captured, a context cannot be synchronised: the driver refuses the call and invalidates
//! the capture. So other threads wait until no capture is active, a thread that would wait for its own capture gets an
//! error, and modules that are dropped meanwhile are unloaded later.
//!
//! # Safety
//!
//! The raw modules belong to the context; their owners are dropped, so nothing else uses them.

use cuda_sys::CUmodule;

use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::sync::{Condvar, Mutex, ThreadId, thread};

/// The captures of a context.
#[derive(Default)]
pub(crate) struct Captures {
    state: Mutex<State>,
    /// Notified when the last capture has ended, and when an operation that would invalidate captures has finished.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The thread of each active capture.
    running: Vec<ThreadId>,
    /// The number of running operations that would invalidate a capture; new captures wait for them.
    blockers: usize,
    /// Modules to be unloaded when no capture is active.
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

    /// Ends a capture of the calling thread. After the last capture, passes the waiting modules to `unload`.
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

    /// Runs an operation that would invalidate a capture, such as synchronising the context, while no capture is active
    /// and none can begin.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the calling thread is capturing.
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

    /// Unloads a module once its kernels have finished: now, or when no capture is active.
    pub(crate) fn unload(&self, context: &Context, module: CUmodule) {
        let mut state = self.state.lock();
        // Under the lock, since the wait would invalidate a capture that begins meanwhile.
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
    // Launched kernels may still run the code, and the driver does not guarantee that unloading waits for them.
    // SAFETY: the call has no argument; the context is bound by the macro.
    let idle = unsafe { driver_call!(context, cuCtxSynchronize()) };
    let unloaded = idle.and_then(|()| {
        // SAFETY: the modules' owners and their functions, which hold an owner, are dropped, and no kernel runs.
        modules.iter().try_for_each(|module| unsafe { driver_call!(context, cuModuleUnload(*module)) })
    });
    if let Err(error) = unloaded {
        tracing::warn!(%error, "a module could not be unloaded");
    }
}
