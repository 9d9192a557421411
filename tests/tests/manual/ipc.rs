//! Sharing between processes: one process allocates an array, another writes it, and the first reads the result.
//!
//! # Safety
//!
//! The process that owns the array waits while the other one has it open.

use cuda_mem::{IpcHandle, shareable_array};
use cuda_prelude::*;
use ndarray::{ArrayViewMut1, Ix2, array, s};

use crate::support::in_own_process;

#[kernel]
fn raise(mut x: ArrayViewMut1<'_, i32>, by: i32) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] += by;
    }
}

/// Encodes bytes for an environment variable; a real program would send them through a pipe.
fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_text(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

fn in_the_other_process(handle: &str) -> Result<()> {
    let handle = IpcHandle::<i32, Ix2>::from_bytes(&from_text(handle)).expect("the handle of the first process");
    // SAFETY: the first process waits for this one.
    let mut x = unsafe { handle.open(&current_context()?) }?;
    assert_eq!(x.copy_to_host()?, array![[1, 3], [5, 7]]);
    raise::launch((1, 32), &mut x.slice_mut(s![1, ..]), 100)?;
    synchronize()
}

#[test]
fn two_processes_share_an_array() -> Result<()> {
    const HANDLE: &str = "CUDA_TESTS_IPC_HANDLE";
    if let Ok(handle) = std::env::var(HANDLE) {
        return in_the_other_process(&handle);
    }
    let mut x = shareable_array::<i32, _>(&current_context()?, (2, 4))?;
    x.copy_from_host(&array![[1, 2, 3, 4], [5, 6, 7, 8]])?;
    // A view can be shared too: every second column.
    let handle = to_text(&x.slice(s![.., ..;2]).ipc_handle()?.to_bytes());
    in_own_process("manual::ipc::two_processes_share_an_array", &[(HANDLE, Some(&handle))], || ());
    assert_eq!(x.copy_to_host()?, array![[1, 2, 3, 4], [105, 6, 107, 8]]);
    Ok(())
}
