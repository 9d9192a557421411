//! The tuples of kernels' parameters and launches' arguments.

/// The parameters of a kernel: a tuple of their types. Sealed.
#[cfg_attr(doc, doc(hidden))]
pub trait KernelParams: Sealed + 'static {}

/// Seals traits to tuples.
#[cfg_attr(doc, doc(hidden))]
#[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
pub trait Sealed {}

impl Sealed for () {}
impl KernelParams for () {}

/// Calls a macro with a list of all tuples of 1 to 32 elements: for each element a parameter, an argument and its index.
macro_rules! each_tuple {
    ($then:ident) => {
        each_tuple! {
            $then [] []
            (P0 A0 0) (P1 A1 1) (P2 A2 2) (P3 A3 3) (P4 A4 4) (P5 A5 5) (P6 A6 6) (P7 A7 7)
            (P8 A8 8) (P9 A9 9) (P10 A10 10) (P11 A11 11) (P12 A12 12) (P13 A13 13) (P14 A14 14) (P15 A15 15)
            (P16 A16 16) (P17 A17 17) (P18 A18 18) (P19 A19 19) (P20 A20 20) (P21 A21 21) (P22 A22 22) (P23 A23 23)
            (P24 A24 24) (P25 A25 25) (P26 A26 26) (P27 A27 27) (P28 A28 28) (P29 A29 29) (P30 A30 30) (P31 A31 31)
        }
    };
    // The tuples so far, the elements of the last one, and the remaining elements.
    ($then:ident [$($tuples:tt)*] [$($before:tt)*] ($($element:tt)*) $($rest:tt)*) => {
        each_tuple! { $then [$($tuples)* ($($before)* $($element)*)] [$($before)* $($element)*,] $($rest)* }
    };
    ($then:ident [$($tuples:tt)*] [$($before:tt)*]) => {
        $then! { $($tuples)* }
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
