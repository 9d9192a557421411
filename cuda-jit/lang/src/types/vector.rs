//! Short vectors: two to four numbers with elementwise arithmetic, stored contiguously.
//!
//! Their names are the element's type and the count, as in `f32x4`; CUDA's and Numba's names are aliases in the
//! documentation. Layouts are CUDA's: a vector of two or four numbers is aligned to its size, up to 16 bytes, so that one
//! instruction loads it; a vector of three is aligned as its elements are. Invariant: a vector consists of its numbers, in
//! order, without padding.
//!
//! # Safety
//!
//! The `unsafe` traits that are implemented here require no more than this layout.
//!
//! # Examples
//!
//! ```
//! use cuda_jit::{device::grid, f32x3, kernel};
//!
//! /// Reflects directions at a plane with the given normal.
//! #[kernel]
//! fn reflect(rays: &mut [f32x3], normal: f32x3) {
//!     let i = grid::<1>();
//!     if i < rays.len() {
//!         rays[i] -= normal * (2.0 * rays[i].dot(normal));
//!     }
//! }
//!
//! let mut rays = [f32x3::new(1.0, -1.0, 0.0); 2];
//! cuda_jit::host::for_each_thread((1, 2), || reflect(&mut rays, f32x3::new(0.0, 1.0, 0.0)));
//! assert_eq!(rays, [f32x3::new(1.0, 1.0, 0.0); 2]);
//!
//! let (a, b) = (f32x3::new(-1.0, 2.0, 3.0), f32x3::splat(2.0));
//! assert_eq!((a.min(b).to_array(), a.max(b).to_array()), ([-1.0, 2.0, 2.0], [2.0, 2.0, 3.0]));
//! assert_eq!(a.abs().mul_add(b, b), f32x3::new(4.0, 6.0, 8.0));
//! ```

use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use std::sync::Arc;

use cuda_mem_element::{Element, Exchanged, NumberKind};
use half::{bf16, f16};

use crate::device::Cached;
use crate::kir::BinaryOp;
use crate::num::{Float, Vector};
use crate::typeinfo::operation::operations;
use crate::typeinfo::{
    Arithmetic, Body, Callee, DeviceFn, DeviceFrom, DeviceType, ElementType, Field, Instance, Intrinsic, KernelParam,
    Key, Operation, Returned, ScalarType, StructTy, Ty, Unconstrained, ValueType, type_arg,
};

/// The callee of the functions that construct a vector.
#[doc(hidden)]
#[derive(Debug)]
pub struct VectorConstructor<V>(PhantomData<V>);

// SAFETY: the instance is the intrinsic that constructs a vector of this type from its numbers.
unsafe impl<V: Vector> DeviceFn for VectorConstructor<V> {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        Instance { body: Body::Intrinsic(Intrinsic::Vector), generics: vec![type_arg::<V>()] }
    }
}

operations! {
    /// The elementwise minimum.
    min[V: Vector](V, V) -> V => Operation::Binary(BinaryOp::Min);
    /// The elementwise maximum.
    max[V: Vector](V, V) -> V => Operation::Binary(BinaryOp::Max);
    /// The elementwise absolute value.
    abs[V: Vector](V) -> V => Operation::Abs;
    /// `a * b + c` elementwise, each rounded once.
    mul_add[V: Vector](V, V, V) -> V => Operation::Fma;
    /// The dot product, summed from the first element on.
    dot[V: Vector](V, V) -> V::Number => Operation::Dot;
    /// The elements in order.
    to_array[V: VectorMethods](V) -> V::Numbers => Operation::ToArray;
}

/// The hidden methods of vectors.
///
/// Nothing unsafe relies on an implementation.
#[doc(hidden)]
pub trait VectorMethods: Vector {
    /// An array of its elements.
    type Numbers: DeviceType;

    cuda_jit_macros::device_methods! {
        fn dot(self, other: Self) -> Self::Number = dot<Self>;
        fn max(self, other: Self) -> Self = max<Self>;
        fn min(self, other: Self) -> Self = min<Self>;
        fn to_array(self) -> Self::Numbers = to_array<Self>;
    }
}

/// The hidden methods of vectors of signed numbers.
///
/// Nothing unsafe relies on an implementation.
#[doc(hidden)]
pub trait SignedVectorMethods: Vector {
    cuda_jit_macros::device_methods! {
        fn abs(self) -> Self = abs<Self>;
    }
}

/// The hidden methods of vectors of floats.
///
/// Nothing unsafe relies on an implementation.
#[doc(hidden)]
pub trait FloatVectorMethods: Vector {
    cuda_jit_macros::device_methods! {
        fn mul_add(self, a: Self, b: Self) -> Self = mul_add<Self>;
    }
}

/// The type of a lane.
macro_rules! lane {
    ($lane:ident $number:ident) => {
        $number
    };
}

/// Defines an operator of a vector: with a vector, with a number on either side, and with assignment.
macro_rules! operator {
    ($name:ident $number:ident [$($lane:ident)+] $trait:ident $method:ident $assign:ident $assign_method:ident) => {
        impl $trait for $name {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                Self { $($lane: self.$lane.$method(other.$lane)),+ }
            }
        }

        impl $trait<$number> for $name {
            type Output = Self;
            fn $method(self, other: $number) -> Self {
                Self { $($lane: self.$lane.$method(other)),+ }
            }
        }

        impl $trait<$name> for $number {
            type Output = $name;
            fn $method(self, other: $name) -> $name {
                $name { $($lane: self.$method(other.$lane)),+ }
            }
        }

        impl $assign for $name {
            fn $assign_method(&mut self, other: Self) {
                *self = (*self).$method(other);
            }
        }

        impl $assign<$number> for $name {
            fn $assign_method(&mut self, other: $number) {
                *self = (*self).$method(other);
            }
        }
    };
}

macro_rules! vectors {
    ($($name:ident = $count:literal $number:ident [$($lane:ident)+] align $align:literal $(as $alias:literal)?;)*) => { $(
        #[doc = concat!("A vector of `", stringify!($number), "`", $(" (CUDA's `", $alias, "`)",)? ".")]
        #[doc = ""]
        #[doc = "Operators work on each number, also with one number for all; see [`as_vectors`](crate::device::as_vectors) for slices of numbers."]
        $(#[doc(alias = $alias)])?
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align($align))]
        pub struct $name {
            $(
                #[doc = concat!("The number `", stringify!($lane), "`.")]
                pub $lane: $number,
            )+
        }

        impl $name {
            /// The vector of these numbers.
            pub const fn new($($lane: $number),+) -> Self {
                Self { $($lane),+ }
            }

            /// The vector with one number in all lanes.
            pub const fn splat(number: $number) -> Self {
                Self { $($lane: number),+ }
            }

            #[doc(hidden)]
            pub fn __call_new($(_: lane!($lane $number)),+) -> Returned<VectorConstructor<Self>, Self> {
                Returned::new()
            }

            #[doc(hidden)]
            pub fn __call_splat(_: $number) -> Returned<VectorConstructor<Self>, Self> {
                Returned::new()
            }

            /// The elementwise minimum.
            pub fn min(self, other: Self) -> Self {
                Self { $($lane: self.$lane.min(other.$lane)),+ }
            }

            /// The elementwise maximum.
            pub fn max(self, other: Self) -> Self {
                Self { $($lane: self.$lane.max(other.$lane)),+ }
            }

            /// The dot product, summed from the first element on.
            pub fn dot(self, other: Self) -> $number {
                let products = self * other;
                let [first, rest @ ..] = products.to_array();
                rest.into_iter().fold(first, |sum, product| sum + product)
            }

            /// The elements in order.
            pub const fn to_array(self) -> [$number; $count] {
                [$(self.$lane),+]
            }
        }

        operator! { $name $number [$($lane)+] Add add AddAssign add_assign }
        operator! { $name $number [$($lane)+] Sub sub SubAssign sub_assign }
        operator! { $name $number [$($lane)+] Mul mul MulAssign mul_assign }
        operator! { $name $number [$($lane)+] Div div DivAssign div_assign }

        impl From<[$number; $count]> for $name {
            fn from([$($lane),+]: [$number; $count]) -> Self {
                Self { $($lane),+ }
            }
        }

        // SAFETY: the instance constructs the vector from the array's elements, in order.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceFrom<[$number; $count]> for $name {
            fn instance() -> Instance {
                Instance { body: Body::Intrinsic(Intrinsic::VectorOfArray), generics: vec![type_arg::<Self>()] }
            }
        }

        // SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
        unsafe impl Key for $name {
            fn ty() -> Ty {
                let ty = || Ty::Scalar(<$number as ScalarType>::SCALAR);
                Ty::Struct(Arc::new(StructTy {
                    name: stringify!($name),
                    fields: vec![$(Field {
                        name: stringify!($lane), ty: ty(), offset: std::mem::offset_of!($name, $lane),
                    }),+],
                    size: size_of::<$name>(),
                    align: align_of::<$name>(),
                    operators: Vec::new,
                    arithmetic: Arithmetic::Lanes(<$number as ScalarType>::SCALAR),
                }))
            }
        }

        // SAFETY: the key describes this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $name {
            type K = Self;
            fn __cells(&self, push: &mut dyn FnMut(u128)) { $(push(ScalarType::bits(self.$lane));)+ }
            fn __variants() -> Vec<Option<Self>> { vec![Some(Self { $($lane: <$number>::default()),+ })] }
        }

        // SAFETY: the cells are the elements, in the order of the key's fields.
        unsafe impl ValueType for $name { const CELLS: usize = $count; }

        // SAFETY: the elements are plain data, and the assertions above exclude padding.
        #[diagnostic::do_not_recommend]
        unsafe impl ElementType for $name {}
        #[diagnostic::do_not_recommend]
        impl KernelParam for $name {}

        impl VectorMethods for $name {
            type Numbers = [$number; $count];
        }

        const _: () = assert!(size_of::<$name>() == $count * size_of::<$number>());

        // SAFETY: it consists of consecutive numbers, and its size, which is asserted above, leaves no room for padding.
        unsafe impl Element for $name {}

        // SAFETY: it consists of `COUNT` consecutive numbers, and its size, which is asserted above, leaves no room for
        // padding.
        unsafe impl Vector for $name {
            type Number = $number;
            const COUNT: usize = $count;
        }

        impl Exchanged for $name {
            const KIND: NumberKind = <$number as Exchanged>::KIND;
            const LANES: u16 = $count;
        }

        impl Cached for $name {}
    )* };
}

/// Calls a macro with a list of all vectors: name, element type, fields, alignment, CUDA's name.
#[doc(hidden)]
#[macro_export]
macro_rules! each_vector {
    ($then:ident) => {
        $then! {
            i8x2 = 2 i8 [x y] align 2 as "char2";
            i8x3 = 3 i8 [x y z] align 1 as "char3";
            i8x4 = 4 i8 [x y z w] align 4 as "char4";
            u8x2 = 2 u8 [x y] align 2 as "uchar2";
            u8x3 = 3 u8 [x y z] align 1 as "uchar3";
            u8x4 = 4 u8 [x y z w] align 4 as "uchar4";
            i16x2 = 2 i16 [x y] align 4 as "short2";
            i16x3 = 3 i16 [x y z] align 2 as "short3";
            i16x4 = 4 i16 [x y z w] align 8 as "short4";
            u16x2 = 2 u16 [x y] align 4 as "ushort2";
            u16x3 = 3 u16 [x y z] align 2 as "ushort3";
            u16x4 = 4 u16 [x y z w] align 8 as "ushort4";
            i32x2 = 2 i32 [x y] align 8 as "int2";
            i32x3 = 3 i32 [x y z] align 4 as "int3";
            i32x4 = 4 i32 [x y z w] align 16 as "int4";
            u32x2 = 2 u32 [x y] align 8 as "uint2";
            u32x3 = 3 u32 [x y z] align 4 as "uint3";
            u32x4 = 4 u32 [x y z w] align 16 as "uint4";
            i64x2 = 2 i64 [x y] align 16 as "longlong2";
            i64x3 = 3 i64 [x y z] align 8 as "longlong3";
            i64x4 = 4 i64 [x y z w] align 16 as "longlong4";
            u64x2 = 2 u64 [x y] align 16 as "ulonglong2";
            u64x3 = 3 u64 [x y z] align 8 as "ulonglong3";
            u64x4 = 4 u64 [x y z w] align 16 as "ulonglong4";
            f16x2 = 2 f16 [x y] align 4 as "half2";
            bf16x2 = 2 bf16 [x y] align 4 as "bfloat162";
            f32x2 = 2 f32 [x y] align 8 as "float2";
            f32x3 = 3 f32 [x y z] align 4 as "float3";
            f32x4 = 4 f32 [x y z w] align 16 as "float4";
            f64x2 = 2 f64 [x y] align 16 as "double2";
            f64x3 = 3 f64 [x y z] align 8 as "double3";
            f64x4 = 4 f64 [x y z w] align 16 as "double4";
        }
    };
}

each_vector!(vectors);

macro_rules! signed {
    ($($name:ident [$($lane:ident)+];)*) => { $(
        impl Neg for $name {
            type Output = Self;
            fn neg(self) -> Self { Self { $($lane: -self.$lane),+ } }
        }

        impl SignedVectorMethods for $name {}

        impl $name {
            /// The elementwise absolute value.
            pub fn abs(self) -> Self {
                Self { $($lane: self.$lane.abs()),+ }
            }
        }
    )* };
}

macro_rules! floats {
    ($($name:ident [$($lane:ident)+];)*) => { $(
        impl FloatVectorMethods for $name {}

        impl $name {
            /// `self * a + b` elementwise, each rounded once.
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                Self { $($lane: self.$lane.mul_add(a.$lane, b.$lane)),+ }
            }
        }
    )* };
}

signed! {
    i8x2 [x y]; i8x3 [x y z]; i8x4 [x y z w]; i16x2 [x y]; i16x3 [x y z]; i16x4 [x y z w];
    i32x2 [x y]; i32x3 [x y z]; i32x4 [x y z w]; i64x2 [x y]; i64x3 [x y z]; i64x4 [x y z w];
    f16x2 [x y]; bf16x2 [x y]; f32x2 [x y]; f32x3 [x y z]; f32x4 [x y z w]; f64x2 [x y]; f64x3 [x y z]; f64x4 [x y z w];
}

floats! {
    f16x2 [x y]; bf16x2 [x y]; f32x2 [x y]; f32x3 [x y z]; f32x4 [x y z w]; f64x2 [x y]; f64x3 [x y z]; f64x4 [x y z w];
}
