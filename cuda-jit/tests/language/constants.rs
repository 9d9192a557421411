//! Constants: tables in constant or global memory, and values that the host updates between launches.

use super::{context, differ, on_device, on_host};
use cuda_driver::{Driver, Stream};
use cuda_jit::device::grid;
use cuda_jit::kir::Space;
use cuda_jit::{Constant, DeviceType, Num, device, device_fn, kernel, kir_of};

const WEIGHTS: [f32; 5] = [0.5, -1.0, 2.0, 4.5, 8.0];
static TABLE: [u32; 256] = {
    let (mut table, mut i) = ([0; 256], 0u32);
    while i < 256 {
        table[i as usize] = i.wrapping_mul(2654435761) ^ 0xa5;
        i += 1;
    }
    table
};
const MATRIX: [[i16; 3]; 2] = [[1, -2, 3], [-4, 5, -6]];

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(u8)]
enum Way {
    Up = 3,
    Down = 7,
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Stage {
    gain: f64,
    taps: [i8; 3],
    way: Way,
    open: bool,
    span: (u8, Option<u32>),
}

const STAGES: [Stage; 2] = [
    Stage { gain: 1.5, taps: [1, -2, 3], way: Way::Down, open: true, span: (9, Some(70_000)) },
    Stage { gain: -0.25, taps: [4, 5, -6], way: Way::Up, open: false, span: (8, None) },
];

#[device]
fn sum(values: &[f32]) -> f32 {
    let mut sum = 0.0;
    for v in values {
        sum += *v;
    }
    sum
}

#[device]
fn pick(table: &[u32; 256], at: usize) -> u32 {
    table[at % table.len()]
}

#[device]
fn stage(stage: &Stage) -> f64 {
    let way = match stage.way {
        Way::Up => 1.0,
        Way::Down => -1.0,
    };
    stage.gain * way + stage.taps[1] as f64 + stage.span.1.unwrap_or(1) as f64
}

#[kernel]
fn tables(n: usize, out: &mut [f64]) {
    let i = grid::<1>();
    if i < out.len() {
        let which = &STAGES[i % 2];
        let row = if i % 2 == 0 { &MATRIX[0] } else { &MATRIX[1] };
        let mut own = WEIGHTS;
        own[i % 5] += 1.0;
        let mut total = row[i % 3] as f64 + MATRIX[n % 2][(i + n) % 3] as f64 * 100.0;
        for (k, w) in WEIGHTS.iter().enumerate() {
            total += (*w * k as f32) as f64;
        }
        for line in MATRIX {
            total += line[1] as f64;
        }
        total += (sum(&WEIGHTS) + sum(&WEIGHTS[1..i % 4 + 1]) + sum(&own)) as f64;
        total += pick(&TABLE, i * 77) as f64 + TABLE[(i + n) & 255] as f64 + WEIGHTS.len() as f64;
        if which.open {
            total += which.span.0 as f64;
        }
        out[i] = total + stage(which) + stage(&STAGES[n % 2]);
    }
}

#[test]
fn tables_of_every_kind() {
    let out = differ!(tables, (2, 32), [3usize], vec![0f64; 50]);
    assert_ne!(out[0], out[1]);
    let ptx = tables::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains(".const .align 16 .b8 constant") && ptx.contains("ld.const"), "{ptx}");
    let kernel = tables::kernel();
    // the bytes of the four tables, each aligned to 16
    assert_eq!(kernel.const_bytes(), 32 + 1024 + 16 + 64);
}

trait Compiled {
    fn kernel() -> cuda_jit::CompiledKernel;
}

impl Compiled for tables {
    fn kernel() -> cuda_jit::CompiledKernel {
        let _selected = context().select();
        tables::compile().unwrap()
    }
}

#[kernel]
fn one_table(at: usize, out: &mut [u32]) {
    out[grid::<1>()] = TABLE[at];
}

#[test]
fn a_table_is_not_copied() {
    let ptx = one_table::compile_ptx((9, 0)).unwrap();
    assert!(!ptx.contains(".local") && !ptx.contains("st.shared") && ptx.matches("ld.const").count() == 1, "{ptx}");
    assert_eq!(kir_of::<one_table>().unwrap().constant_memory(), 1024);
}

static LARGE: [u16; 40_000] = [7; 40_000];
static HALF: [u64; 5_000] = [1 << 40; 5_000];
static OTHER_HALF: [u64; 5_000] = [1 << 41; 5_000];

#[kernel]
fn large_tables(out: &mut [u64]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = LARGE[i * 1000] as u64 + HALF[i] + OTHER_HALF[i * 100];
    }
}

#[test]
fn constant_memory_overflows_to_global_memory() {
    differ!(large_tables, (1, 64), [], vec![0u64; 40]);
    let spaces: Vec<Space> = kir_of::<large_tables>().unwrap().constants.iter().map(|one| one.space).collect();
    assert_eq!(spaces, [Space::Global, Space::Constant, Space::Global]);
    assert!(large_tables::compile_ptx((9, 0)).unwrap().contains("ld.global.nc"));
}

const PRIMES: &[u32] = &[2, 3, 5, 7, 11];
const GREETING: &[u8] = b"hello";
const NOTHING: &[u8] = &[];
static ROWS: &[[i16; 3]; 2] = &MATRIX;
static LINE: &[Stage] = &STAGES;
const PERHAPS: &[Option<(u8, u32)>] = &[Some((1, 70_000)), None, Some((255, 3))];
const WORDS: [&[u8]; 4] = [b"a", GREETING, b"", b"xyz"];
const PAIRS: [&[u32; 2]; 2] = [&[1, 2], &[30, 40]];

trait Spelled {
    const LETTERS: &'static [u8];

    const COUNT: usize = Self::LETTERS.len();
}

impl Spelled for Sharp {
    const LETTERS: &'static [u8] = b"sharp";
}

impl<const N: usize> Spelled for Soft<N> {
    const LETTERS: &'static [u8] = &[N as u8; N];
}

#[device]
fn bytes(text: &[u8]) -> u64 {
    text.iter().fold(7, |hash, byte| hash * 31 + *byte as u64)
}

#[device]
fn letters<S: Spelled>() -> u64 {
    bytes(S::LETTERS) + S::COUNT as u64
}

#[kernel]
fn referred(x: &[u8], n: usize, out: &mut [u64]) {
    let i = grid::<1>();
    if i < out.len() {
        let own = [n as u32; 3];
        let chosen = if i % 2 == 0 { PRIMES } else { &own };
        let mut total = chosen[n % chosen.len()] as u64 + PRIMES.iter().rev().map(|p| *p as u64).sum::<u64>();
        for (k, byte) in GREETING.iter().enumerate() {
            total += k as u64 * *byte as u64;
        }
        total = total * 3 + (ROWS[i % 2][n % 3] + ROWS.len() as i16) as u64;
        total = total * 3 + stage(&LINE[i % LINE.len()]) as i64 as u64;
        for one in PERHAPS {
            total = total * 5 + one.map_or(9, |(a, b)| a as u64 + b as u64);
        }
        for word in WORDS {
            total = total * 7 + bytes(word) + word.len() as u64;
        }
        total +=
            bytes(WORDS[3]) + bytes(WORDS[(i + n) % 4]) + PAIRS[1][i % 2] as u64 + PAIRS.map(|[a, _]| *a as u64)[0];
        total += letters::<Sharp>() * 2 + letters::<Soft<5>>() + letters::<Soft<0>>();
        let text = &x[i % 7..i % 7 + 5];
        total += match text {
            GREETING => 1000,
            Sharp::LETTERS => 2000,
            NOTHING => 3000,
            _ => 4000,
        };
        total += PRIMES.get(i).map_or(100, |p| *p as u64);
        let [first, .., last] = *const { &[7_u64, 8, 9] };
        total += first * last + const { PRIMES.split_at(2).1 }[n % 3] as u64;
        out[i] = total + (text == GREETING) as u64 + (NOTHING.is_empty() && WORDS[2] == NOTHING) as u64 * 2;
    }
}

#[test]
fn constants_refer_to_others() {
    let out = differ!(referred, (2, 32), [b"hellosharp!!".as_slice(), 1usize], vec![0u64; 50]);
    assert_ne!(out[0], out[1]);
}

const HOLDS_A_REFERENCE: Option<&[u8]> = Some(GREETING);

#[kernel]
fn read_after_a_match(x: &[u8], out: &mut [u64]) {
    out[0] = match x.get(..5) {
        HOLDS_A_REFERENCE => HOLDS_A_REFERENCE.map_or(1, bytes),
        _ => 2,
    };
}

#[test]
fn a_constant_that_only_holds_references_is_matched_and_not_read() {
    let error = kir_of::<read_after_a_match>().unwrap_err().to_string();
    assert!(error.contains("constants.rs:") && error.contains("`Option<&[u8]>` holds references"), "{error}");
}

#[kernel]
fn prime(at: usize, out: &mut [u32]) {
    out[grid::<1>()] = PRIMES[at];
}

#[test]
fn what_a_constant_refers_to_is_not_copied() {
    let ptx = prime::compile_ptx((9, 0)).unwrap();
    assert!(!ptx.contains(".local") && ptx.matches("ld.const").count() == 1, "{ptx}");
    assert_eq!(kir_of::<prime>().unwrap().constant_memory(), 32);
}

trait Filter {
    const TAPS: [f32; 3];
}

#[derive(Clone, Copy, DeviceType)]
struct Sharp;

#[derive(Clone, Copy, DeviceType)]
struct Soft<const N: usize>;

impl Filter for Sharp {
    const TAPS: [f32; 3] = [-1.0, 3.0, -1.0];
}

impl<const N: usize> Filter for Soft<N> {
    const TAPS: [f32; 3] = [N as f32; 3];
}

#[kernel]
fn filtered<T: Num, const N: usize>(x: &[T], out: &mut [f32]) {
    const OWN: [f32; 2] = [0.5, 0.25];
    let i = grid::<1>();
    if i < x.len() {
        out[i] = Soft::<N>::TAPS[i % 3] + Sharp::TAPS[(i + 1) % 3] + OWN[i % 2];
    }
}

#[test]
fn constants_of_generic_types() {
    let mut out = on_device(&[0f32; 4]);
    filtered::<u8, 40>::launch((1, 4), &[1, 2, 3, 4], &mut out).unwrap();
    assert_eq!(on_host(&out), [43.5, 39.25, 39.5, 43.25]);
    filtered::<u8, 0>::launch((1, 4), &[1, 2, 3, 4], &mut out).unwrap();
    assert_eq!(on_host(&out), [3.5, -0.75, -0.5, 3.25]);
}

#[kernel]
fn by_closure<F: Fn(usize) -> f32>(f: F, out: &mut [f32]) {
    let i = grid::<1>();
    out[i] = f(i);
}

#[test]
fn closures_of_the_host_read_tables() {
    let mut out = on_device(&[0f32; 5]);
    let k = 2.0;
    by_closure::launch((1, 5), device_fn!(|i: usize| WEIGHTS[i] * k), &mut out).unwrap();
    assert_eq!(on_host(&out), WEIGHTS.map(|w| w * 2.0));
    by_closure::launch((1, 5), device_fn!(|i: usize| PRIMES[i] as f32 + k), &mut out).unwrap();
    assert_eq!(on_host(&out), [4.0, 5.0, 7.0, 9.0, 13.0]);
}

/// Launches a closure that uses a const parameter and local items of the function that contains it.
fn scaled<const N: usize>() -> Vec<f32> {
    let mut out = on_device(&[0f32; 5]);
    let scaled = device_fn!(|i: usize| {
        const WEIGHTS: [f32; 2] = [0.5, 0.25];
        type Narrow = u8;
        (i * N) as Narrow as f32 + WEIGHTS[i % 2]
    });
    by_closure::launch((1, 5), scaled, &mut out).unwrap();
    on_host(&out)
}

#[test]
fn closures_of_the_host_name_const_parameters_and_their_own_items() {
    assert_eq!(scaled::<1>(), [0.5, 1.25, 2.5, 3.25, 4.5]);
    assert_eq!(scaled::<100>(), [0.5, 100.25, 200.5, 44.25, 144.5]);
}

static COEFFICIENTS: Constant<[f32; 4]> = Constant::new([1.0, 2.0, 3.0, 4.0]);

#[device]
fn coefficient(at: usize) -> f32 {
    COEFFICIENTS.get()[at]
}

#[kernel]
fn reads(out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let all = COEFFICIENTS.get();
        out[i] = coefficient(i) + sum(&COEFFICIENTS.get()) * 10.0 + sum(&all[1..2]) * 1000.0;
    }
}

#[kernel]
fn reads_later(out: &mut [f32]) {
    out[grid::<1>()] = COEFFICIENTS.get()[grid::<1>()];
}

#[test]
fn the_host_updates_a_constant_for_all_kernels() {
    // a context of its own, since other tests run concurrently
    let device = Driver::new(cuda_tests_support::driver_api()).unwrap().device(0).unwrap();
    let context = device.primary_context().unwrap();
    let mut out = on_device(&[0f32; 4]);
    reads::launch((1, 4), &mut out).unwrap();
    assert_eq!(on_host(&out), [2101.0, 2102.0, 2103.0, 2104.0]);
    COEFFICIENTS.set(&context, &[5.0, 6.0, 7.0, 8.0]).unwrap();
    reads::launch((1, 4), &mut out).unwrap();
    assert_eq!(on_host(&out), [6265.0, 6266.0, 6267.0, 6268.0]);
    // a module that is loaded after the update has the value too
    reads_later::launch((1, 4), &mut out).unwrap();
    assert_eq!(on_host(&out), [5.0, 6.0, 7.0, 8.0]);
    COEFFICIENTS.set(&Stream::new(&context).unwrap(), &[9.0; 4]).unwrap();
    reads_later::launch((1, 4), &mut out).unwrap();
    assert_eq!(on_host(&out), [9.0; 4]);
    // The host reads its context's value, and in other contexts the initial one.
    assert_eq!(COEFFICIENTS.get(), [1.0, 2.0, 3.0, 4.0]);
    let _selected = context.select();
    assert_eq!(COEFFICIENTS.get(), [9.0; 4]);
    differ!(reads, (1, 4), [], vec![0f32; 4]);
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Settings {
    scale: f32,
    offsets: [u32; 3],
}

static SETTINGS: Constant<Settings> = Constant::new(Settings { scale: 2.0, offsets: [1, 2, 3] });
static ROUNDS: Constant<u32> = Constant::new(0);

#[kernel]
fn slow(out: &mut [u32]) {
    let i = grid::<1>();
    let mut state = i as u32;
    for _ in 0..20_000 {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
    }
    // read last, so that an update that does not wait would be observed
    let offset = SETTINGS.get().offsets[i % 3];
    out[i] = ROUNDS.get() * 100 + offset + SETTINGS.get().scale as u32 * 10 + (state & 0);
}

#[test]
fn updates_and_launches_of_several_streams_are_in_order() {
    let context = context();
    let streams: Vec<Stream> = (0..3).map(|_| Stream::new(&context).unwrap()).collect();
    let mut outs: Vec<_> = (0..12).map(|_| on_device(&[0u32; 64])).collect();
    for (round, out) in (0..).zip(&mut outs) {
        let (launches, updates) = (&streams[round as usize % 3], &streams[(round as usize + 1) % 3]);
        ROUNDS.set(updates, &round).unwrap();
        let settings = Settings { scale: (round % 4) as f32, offsets: [round, round + 1, round + 2] };
        SETTINGS.set(updates, &settings).unwrap();
        slow::launch((2, 32, launches), out).unwrap();
    }
    for (round, out) in (0u32..).zip(&outs) {
        let expected = |i: u32| round * 100 + round + i % 3 + round % 4 * 10;
        assert_eq!(on_host(out), (0..64).map(expected).collect::<Vec<_>>(), "round {round}");
    }
}

static ROOM: Constant<[u8; 40_000]> = Constant::new([1; 40_000]);
static MORE: Constant<[u8; 30_000]> = Constant::new([2; 30_000]);

#[kernel]
fn crowded(out: &mut [u64]) {
    let i = grid::<1>();
    out[i] = HALF[i] + ROOM.get()[i * 100] as u64;
}

#[kernel]
fn overcrowded(out: &mut [u64]) {
    let i = grid::<1>();
    out[i] = MORE.get()[i] as u64 + ROOM.get()[i * 100] as u64;
}

#[test]
fn tables_are_moved_for_host_updated_constants() {
    differ!(crowded, (1, 8), [], vec![0u64; 8]);
    let spaces: Vec<Space> = kir_of::<crowded>().unwrap().constants.iter().map(|one| one.space).collect();
    assert_eq!(spaces, [Space::Global, Space::Constant]);
    let error = kir_of::<overcrowded>().unwrap_err().to_string();
    assert!(error.contains("constants.rs:") && error.contains("the kernel's constants take 70000 bytes"), "{error}");
}

#[kernel]
fn either(n: usize, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let mut own = [i as f32; 5];
        own[n] = 100.0;
        let chosen = if i % 2 == 0 { &own } else { &WEIGHTS };
        let element = if i % 3 == 0 { &own[n] } else { &WEIGHTS[n] };
        out[i] = chosen[n] + *element + sum(chosen);
    }
}

#[test]
fn a_reference_is_to_a_constant_or_to_the_threads_own() {
    let out = differ!(either, (1, 8), [2usize], vec![0f32; 8]);
    assert_eq!(out[1], 2.0 + 2.0 + 14.0);
}

#[kernel]
#[expect(const_item_mutation, reason = "what it does is tested")]
fn writes_a_copy(out: &mut [f32]) {
    let i = grid::<1>();
    let own = &mut WEIGHTS;
    own[i] += 1.0;
    let [first, .., last] = WEIGHTS;
    out[i] = own[i] + first * last;
}

#[test]
fn a_mutable_reference_to_a_constant_is_to_a_copy() {
    differ!(writes_a_copy, (1, 5), [], vec![0f32; 5]);
}

static PER_DEVICE: Constant<u32> = Constant::new(7);

#[kernel]
fn read_one(out: &mut [u32]) {
    out[0] = PER_DEVICE.get();
}

#[test]
fn each_device_has_its_own() {
    let name = "language::constants::each_device_has_its_own";
    if !crate::around::is_child() {
        crate::around::child(name, &[("CUDA_SIM_DEVICES", "2".as_ref())]);
        return;
    }
    let driver = Driver::new(cuda_tests_support::driver_api()).unwrap();
    let contexts = [0, 1].map(|index| driver.device(index).unwrap().primary_context().unwrap());
    let read = |context: &cuda_driver::Context| {
        let mut out = cuda_mem::zeros(context, 1).unwrap();
        read_one::launch((1, 1), &mut out).unwrap();
        on_host(&out)[0]
    };
    assert_eq!(contexts.each_ref().map(read), [7, 7]);
    PER_DEVICE.set(&contexts[1], &8).unwrap();
    assert_eq!(contexts.each_ref().map(read), [7, 8]);
    PER_DEVICE.set(&contexts[0], &9).unwrap();
    assert_eq!(contexts.each_ref().map(read), [9, 8]);
    let _selected = contexts[1].select();
    assert_eq!(PER_DEVICE.get(), 8);
}

#[kernel]
fn never_assigned(out: &mut [u32]) {
    let _late: u32;
    let (one, _other): (u32, bool);
    one = 5;
    out[0] = one;
}

#[test]
fn variables_may_stay_without_a_value() {
    differ!(never_assigned, (1, 1), [], vec![0u32; 2]);
}

const fn doubled(v: u32) -> u32 {
    let mut sum = 0;
    let mut k = 0;
    while k < v {
        sum += 2;
        k += 1;
    }
    sum
}

#[device]
fn of_length<const N: usize>(x: [u32; N]) -> u32 {
    const { assert!(N > 1) }
    x[const { N - 1 }] + const { [doubled(5), 7, N as u32] }[x[0] as usize % 3]
}

#[kernel]
fn const_blocks(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    const FACTOR: u8 = 3;
    let pair = const { (doubled(FACTOR as u32), Some(2.5f32)) };
    let wide = x[i] as u64 + const { 5 + 7 };
    out[i] = of_length([x[i], 20, 30]) + pair.0 * 100 + pair.1.map_or(0, |v| v as u32) * 1000 + wide as u32;
}

#[test]
fn const_blocks_are_what_rustc_evaluates() {
    differ!(const_blocks, (1, 3), [&[5u32, 1, 3][..]], vec![0u32; 3]);
}

/// A number with a fixed number of bits behind the point.
#[derive(Clone, Copy, cuda_jit::DeviceType)]
struct Fixed<const BITS: u32>(i32);

impl<const BITS: u32> Fixed<BITS> {
    const ONE: Self = Self(1 << BITS);
    const TABLE: [i32; 3] = [BITS as i32, 2, 3];
}

#[cuda_jit::device]
impl<const BITS: u32> Fixed<BITS> {
    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0 + Fixed::<BITS>::TABLE[1])
    }
}

/// Its name is in capitals, as those of constants are.
type Q<const BITS: u32> = Fixed<BITS>;

#[cuda_jit::device]
fn twice(value: Fixed<8>) -> Fixed<8> {
    value.plus(Fixed::ONE)
}

#[kernel]
fn infers(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    let one = &Fixed::ONE;
    let mut sum: Fixed<4> = *one;
    if x[i] > 2 {
        sum = Fixed::ONE.plus(sum);
    }
    out[i] = sum.0 * 10_000 + twice(Fixed::ONE).0 + Fixed::<9>::TABLE[0];
    out[i] += twice(Q::ONE).plus(Q::ONE).0 * 3;
}

#[test]
fn constants_of_generic_types_are_inferred() {
    differ!(infers, (1, 4), [&[1, 2, 3, 4][..]], vec![0; 4]);
}
