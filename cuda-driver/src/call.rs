//! Calls of C functions: [`driver_call!`](crate::driver_call) enters a target (a [`Driver`](crate::Driver) or a
//! [`Context`](crate::Context)), looks the function up, calls it and turns its status into a [`Result`](crate::Result).
//!
//! The macro is public because layers above (device memory, the JIT) call functions that have no wrapper here; no other
//! code calls a driver.

/// Calls a function of the driver API by its C name, on a context or a driver.
///
/// Entering a context refuses a forked child and a poisoned context, and binds the context to the calling thread. The
/// value is `Result<()>`: a status other than success becomes [`Error::Driver`](crate::Error::Driver), and a sticky one
/// poisons the context. A call is an unsafe operation: write `unsafe` around the macro and say why it is sound.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, driver_call};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut pointer = 0;
/// // SAFETY: `pointer` lives through the call.
/// unsafe { driver_call!(&context, cuMemAlloc_v2(&mut pointer, 1024)) }?;
/// assert_ne!(pointer, 0);
/// // SAFETY: the memory was allocated above and nothing uses it.
/// unsafe { driver_call!(&context, cuMemFree_v2(pointer)) }?;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! driver_call {
    ($target:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let target = $target;
        match target.enter(::core::stringify!($name)) {
            ::core::result::Result::Ok(api) => match api.$name() {
                ::core::result::Result::Ok(function) => {
                    target.check(function($($argument),*), ::core::stringify!($name))
                }
                ::core::result::Result::Err(missing) => {
                    ::core::result::Result::Err($crate::Error::from(missing))
                }
            },
            ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
        }
    }};
}

/// Like [`driver_call!`](crate::driver_call), for functions for which `CUDA_ERROR_NOT_READY` is an answer: `Ok(false)`.
macro_rules! driver_query {
    ($target:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let target = $target;
        match target.enter(stringify!($name)) {
            Ok(api) => match api.$name() {
                Ok(function) => match function($($argument),*) {
                    cuda_sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
                    code => target.check(code, stringify!($name)).map(|()| true),
                },
                Err(missing) => Err($crate::Error::from(missing)),
            },
            Err(error) => Err(error),
        }
    }};
}

pub(crate) use driver_query;
