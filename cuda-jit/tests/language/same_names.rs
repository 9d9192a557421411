//! Types with the same name: rustc distinguishes them, and `std::any::type_name` does not.

use super::{context, on_device};
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, ElementType, device, kernel};
use cuda_mem::Element;

/// A type that reads an array of its element type.
#[device]
trait Reads {
    type Of: Copy + ElementType + Element;

    fn number(x: Self::Of) -> u64;

    /// The element at an index.
    fn at(&self, x: &[Self::Of], i: usize) -> u64 {
        if i < x.len() { Self::number(x[i]) } else { 7 }
    }
}

#[device]
fn read<R: Reads + DeviceType, T: Copy + ElementType + Element>(reader: R, x: &[T], i: usize) -> u64
where
    R: Reads<Of = T>,
{
    reader.at(x, i)
}

#[kernel]
fn both<A: Reads<Of = u8> + DeviceType, B: Reads<Of = u64> + DeviceType>(
    a: A,
    b: B,
    x: &[u8],
    y: &[u64],
    out: &mut [u64],
) where
    A: Copy + 'static,
    B: Copy + 'static,
{
    let i = grid::<1>();
    out[i] = a.at(x, i);
    out[8 + i] = b.at(y, i);
    out[16 + i] = read(a, x, i);
    out[24 + i] = read(b, y, i);
}

/// Sharing one specialisation would read past the end of a slice.
#[test]
fn types_of_one_name_have_specialisations_of_their_own() {
    let of_bytes = {
        #[derive(Clone, Copy, DeviceType)]
        #[repr(C)]
        struct Reader {
            _number: u32,
        }

        #[device]
        impl Reads for Reader {
            type Of = u8;

            fn number(x: u8) -> u64 {
                x as u64
            }
        }

        Reader { _number: 1 }
    };
    let of_words = {
        #[derive(Clone, Copy, DeviceType)]
        #[repr(C)]
        struct Reader {
            _number: u32,
        }

        #[device]
        impl Reads for Reader {
            type Of = u64;

            fn number(x: u64) -> u64 {
                x
            }
        }

        Reader { _number: 2 }
    };
    assert_eq!(std::any::type_name_of_val(&of_bytes), std::any::type_name_of_val(&of_words));
    let (bytes, words) = (on_device(&[1_u8, 2, 3, 4]), on_device(&[10_u64, 20, 30, 40]));
    let mut out = on_device(&[0_u64; 32]);
    both::launch((1, 8), of_bytes, of_words, &bytes, &words, &mut out).unwrap();
    context().synchronize().unwrap();
    let expected = [[1, 2, 3, 4, 7, 7, 7, 7], [10, 20, 30, 40, 7, 7, 7, 7]].as_flattened().repeat(2);
    assert_eq!(out.copy_to_host().unwrap().to_vec(), expected);
}
