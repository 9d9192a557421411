//! [`AllocTarget`]: the choice of allocator and stream that the constructors of arrays take.

use cuda_driver::{Context, Stream};

use crate::alloc::{MemoryPool, Source};

/// The target of an array's allocation: a context, a memory pool, or a stream.
///
/// | target | memory | first stream |
/// |---|---|---|
/// | `&Context` | the context's | its default stream |
/// | `&Stream` | the context's | the stream |
/// | `&MemoryPool` | the pool's | the context's default stream |
/// | `(&MemoryPool, &Stream)` | the pool's | the stream |
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// use cuda_mem::{MemoryPool, device_array};
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let (pool, stream) = (MemoryPool::new(&context)?, cuda_driver::Stream::new(&context)?);
/// let x = device_array::<f32, _>((&pool, &stream), 10)?;
/// let y = device_array::<f32, _>(&stream, 10)?;
/// # Ok(())
/// # }
/// ```
pub trait AllocTarget: sealed::Sealed {}

impl<P: sealed::Sealed> AllocTarget for P {}

pub(crate) mod sealed {
    use super::{Source, Stream};

    pub trait Sealed {
        #[doc(hidden)]
        #[expect(private_interfaces, reason = "the trait is this crate's alone")]
        fn source(&self) -> Source;
        #[doc(hidden)]
        fn stream(&self) -> Stream;
    }
}

macro_rules! targets {
    ($($target:ty: |$self:ident| $source:expr, $stream:expr;)*) => {$(
        impl sealed::Sealed for $target {
            #[expect(private_interfaces, reason = "the trait is this crate's alone")]
            fn source(&self) -> Source {
                let $self = self;
                $source
            }

            fn stream(&self) -> Stream {
                let $self = self;
                $stream
            }
        }
    )*};
}

targets! {
    Context: |it| Source::of(it), it.default_stream();
    Stream: |it| Source::of(it.context()), it.clone();
    MemoryPool: |it| Source::CustomPool(it.clone()), it.context().default_stream();
    (&MemoryPool, &Stream): |it| Source::CustomPool(it.0.clone()), it.1.clone();
}

impl<P: sealed::Sealed + ?Sized> sealed::Sealed for &P {
    #[expect(private_interfaces, reason = "the trait is this crate's alone")]
    fn source(&self) -> Source {
        (**self).source()
    }

    fn stream(&self) -> Stream {
        (**self).stream()
    }
}
