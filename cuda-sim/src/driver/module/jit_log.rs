//! The log buffers of JIT options, which loads and links write to.
//!
//! # Safety
//!
//! By CUDA's contract the buffers and the array of option values are valid during the call, and the buffers of a link
//! as long as the link exists.

use crate::driver::{Status, get, put};
use cuda_sys::{CUjit_option, CUresult};
use std::ffi::{c_char, c_uint, c_void};
use std::time::Instant;

/// The log buffers of a load, which are written at its end.
#[derive(Default)]
pub(in crate::driver) struct Logs {
    info: Option<(*mut c_char, usize)>,
    error: Option<(*mut c_char, usize)>,
    /// The option values to which sizes are written back.
    info_size: Option<*mut *mut c_void>,
    error_size: Option<*mut *mut c_void>,
    wall_time: Option<*mut *mut c_void>,
}

impl Logs {
    pub(in crate::driver) fn new(
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
    ) -> Result<Logs, CUresult> {
        let (mut logs, mut buffers, mut sizes) = (Logs::default(), [None; 2], [0; 2]);
        for i in 0..count as usize {
            let option = get(options.wrapping_add(i))?;
            let at = values.wrapping_add(i);
            let value = get(at)?;
            match option {
                CUjit_option::CU_JIT_INFO_LOG_BUFFER => buffers[0] = Some(value.cast()),
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER => buffers[1] = Some(value.cast()),
                CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                    (sizes[0], logs.info_size) = (value.addr() as u32 as usize, Some(at));
                }
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                    (sizes[1], logs.error_size) = (value.addr() as u32 as usize, Some(at));
                }
                CUjit_option::CU_JIT_WALL_TIME => logs.wall_time = Some(at),
                // Other options control NVIDIA's compiler.
                _ if option.0 < CUjit_option::CU_JIT_NUM_OPTIONS.0 => {}
                _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            }
        }
        logs.info = buffers[0].map(|b| (b, sizes[0]));
        logs.error = buffers[1].map(|b| (b, sizes[1]));
        Ok(logs)
    }

    /// As [`Logs::new`], for a link. It outlives the call, so nothing is written to the option values, which clients
    /// may free.
    pub(in crate::driver) fn of_link(
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
    ) -> Result<Logs, CUresult> {
        let Logs { info, error, .. } = Logs::new(count, options, values)?;
        Ok(Logs { info, error, ..Logs::default() })
    }

    fn write(buffer: Option<(*mut c_char, usize)>, size: Option<*mut *mut c_void>, log: &str) -> Status {
        let mut written = 0;
        if let Some((to, capacity)) = buffer
            && capacity > 0
        {
            let bytes = &log.as_bytes()[..log.len().min(capacity - 1)];
            for (i, byte) in bytes.iter().chain(std::iter::once(&0)).enumerate() {
                put(to.wrapping_add(i), *byte as c_char)?;
            }
            written = bytes.len();
        }
        match size {
            Some(at) => put(at, std::ptr::without_provenance_mut(written)),
            None => Ok(()),
        }
    }

    pub(in crate::driver) fn finish(&self, info: &str, error: &str, began: Instant) -> Status {
        Logs::write(self.info, self.info_size, info)?;
        Logs::write(self.error, self.error_size, error)?;
        if let Some(at) = self.wall_time {
            put(at.cast::<f32>(), (began.elapsed().as_secs_f64() * 1e3) as f32)?;
        }
        Ok(())
    }
}

// SAFETY: the client's pointers are valid as long as the header says, and only one call at a time uses them, since a
// link is behind a lock.
unsafe impl Send for Logs {}
