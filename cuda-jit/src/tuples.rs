//! The tuples that kernels' parameters and launches' arguments are.

/// The parameters of a kernel: a tuple of their types. Sealed.
pub trait KernelParams: Sealed + 'static {}

/// Keeps traits to tuples.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
pub trait Sealed {}

impl Sealed for () {}
impl KernelParams for () {}

/// Calls a macro with a list of all tuples but the empty one: of each element a parameter, an argument and its number.
macro_rules! each_tuple {
    ($then:ident) => {
        $then! {
            (P0 A0 0)
            (P0 A0 0, P1 A1 1)
            (P0 A0 0, P1 A1 1, P2 A2 2)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8, P9 A9 9)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8, P9 A9 9, P10 A10 10)
            (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3, P4 A4 4, P5 A5 5, P6 A6 6, P7 A7 7, P8 A8 8, P9 A9 9, P10 A10 10, P11 A11 11)
        }
    };
}

pub(crate) use each_tuple;

macro_rules! params {
    ($(($($param:ident $arg:ident $index:tt),*))*) => { $(
        impl<$($param),*> Sealed for ($($param,)*) {}
        impl<$($param: 'static),*> KernelParams for ($($param,)*) {}
    )* };
}

each_tuple!(params);
