//! User objects: a client's data with a destructor and a reference count, which graphs can retain.
//!
//! Clones and executable graphs retain what a graph retains, and a launch does so until it has finished. The destructor
//! runs on a thread of its own, since it may take any lock of the client's.
//!
//! # Safety
//!
//! The destructor is the client's function, which is called once with the client's pointer. Pointers from C are null or
//! valid for the call, by CUDA's contract.

use super::{GRAPHS, INVALID, Status, api, initialised, put};
use crate::driver::operations::{ClientPointer, host_function};
use cuda_sys::{CUgraph, CUhostFn, CUresult, CUuserObject};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_uint, c_void};
use std::sync::{Arc, Weak};

/// A client's data. Its destructor runs when the last reference is released.
pub(in crate::driver) struct UserObject {
    data: ClientPointer,
    destroy: unsafe extern "C" fn(*mut c_void),
}

/// The objects that a graph retains, each with the number of references.
pub(in crate::driver) type Retained = Vec<(Arc<UserObject>, u64)>;

// SAFETY: the pointer is only passed to the client's destructor.
unsafe impl Sync for UserObject {}

impl Drop for UserObject {
    fn drop(&mut self) {
        let (data, destroy) = (self.data, self.destroy);
        let run = move || {
            let data = data;
            // SAFETY: the client's function is called with the client's pointer, and only this once.
            host_function(|| unsafe { destroy(data.0) });
        };
        if std::thread::Builder::new().name("cuda-sim destructor".to_owned()).spawn(run).is_err() {
            tracing::error!("the system gives no thread: the destructor of a user object does not run");
        }
    }
}

/// An object by handle, which is valid as long as anyone has a reference.
struct UserObjectEntry {
    object: Weak<UserObject>,
    /// Represents the client's own references.
    client: Option<Arc<UserObject>>,
    count: u32,
}

#[derive(Default)]
struct Objects {
    known: HashMap<usize, UserObjectEntry>,
    last: usize,
}

static OBJECTS: Lazy<Mutex<Objects>> = Lazy::new(Mutex::default);

const FIRST: usize = 0x7_0000_0000;
const NO_DESTRUCTOR_SYNC: c_uint = 1;
const MOVE: c_uint = 1;

impl Objects {
    fn object(&self, handle: usize) -> Result<Arc<UserObject>, CUresult> {
        self.known.get(&handle).and_then(|known| known.object.upgrade()).ok_or(INVALID)
    }

    /// Releases references of the client's. The returned one may be the last, so the caller drops it without the lock.
    fn release(&mut self, handle: usize, count: u32) -> Result<Option<Arc<UserObject>>, CUresult> {
        let known = self.known.get_mut(&handle).filter(|known| count <= known.count).ok_or(INVALID)?;
        known.count -= count;
        Ok(if known.count == 0 { known.client.take() } else { None })
    }

    fn retain(&mut self, handle: usize, count: u32) -> Status {
        let object = self.object(handle)?;
        let known = self.known.get_mut(&handle).ok_or(INVALID)?;
        known.count = known.count.checked_add(count).ok_or(INVALID)?;
        known.client = Some(object);
        Ok(())
    }
}

fn counted(count: c_uint) -> Status {
    if count == 0 || count > i32::MAX as c_uint { Err(INVALID) } else { Ok(()) }
}

fn retain_for_graph(graph: usize, handle: usize, count: c_uint, flags: c_uint) -> Status {
    counted(count)?;
    if flags > MOVE {
        return Err(INVALID);
    }
    let mut graphs = GRAPHS.lock();
    let graph = graphs.graph(graph)?;
    let mut objects = OBJECTS.lock();
    let object = objects.object(handle)?;
    if flags == MOVE {
        objects.release(handle, count)?;
    }
    match graph.kept.iter_mut().find(|(kept, _)| Arc::ptr_eq(kept, &object)) {
        Some((_, references)) => *references += u64::from(count),
        None => graph.kept.push((object, u64::from(count))),
    }
    Ok(())
}

fn release_from_graph(graph: usize, handle: usize, count: c_uint) -> Status {
    counted(count)?;
    let mut graphs = GRAPHS.lock();
    let kept = &mut graphs.graph(graph)?.kept;
    let wanted = OBJECTS.lock().object(handle)?;
    let at = kept.iter().position(|(object, _)| Arc::ptr_eq(object, &wanted)).ok_or(INVALID)?;
    let references = &mut kept[at].1;
    *references = references.checked_sub(u64::from(count)).ok_or(INVALID)?;
    if *references == 0 {
        kept.swap_remove(at);
    }
    Ok(())
}

api! {
    fn cuUserObjectCreate(
        out: *mut CUuserObject,
        data: *mut c_void,
        destroy: CUhostFn,
        count: c_uint,
        flags: c_uint,
    ) {
        initialised()?;
        counted(count)?;
        let destroy = destroy.filter(|_| flags == NO_DESTRUCTOR_SYNC && !out.is_null()).ok_or(INVALID)?;
        let mut objects = OBJECTS.lock();
        objects.known.retain(|_, known| known.object.strong_count() > 0);
        objects.last += 0x10;
        let new = FIRST + objects.last;
        let object = Arc::new(UserObject { data: ClientPointer(data), destroy });
        objects.known.insert(new, UserObjectEntry { object: Arc::downgrade(&object), client: Some(object), count });
        put(out, std::ptr::without_provenance_mut(new))
    }
    fn cuUserObjectRetain(object: CUuserObject, count: c_uint) {
        initialised()?;
        counted(count)?;
        OBJECTS.lock().retain(object.addr(), count)
    }
    fn cuUserObjectRelease(object: CUuserObject, count: c_uint) {
        initialised()?;
        counted(count)?;
        let ended = OBJECTS.lock().release(object.addr(), count)?;
        drop(ended);
        Ok(())
    }
    fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) {
        initialised()?;
        retain_for_graph(graph.addr(), object.addr(), count, flags)
    }
    fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) {
        initialised()?;
        release_from_graph(graph.addr(), object.addr(), count)
    }
}
