//! Habits from host code: strings, raw pointers, mutable statics, launches.
static mut COUNT: u32 = 0;
const LIMITS: [u32; 2] = [1, 2];

#[cuda_jit::kernel]
fn text(out: &mut [f32]) {
    let name = "name";
    out[0] = name.len() as f32;
}

#[cuda_jit::kernel]
fn bytes(out: &mut [f32]) {
    let name = c"name";
    out[0] = name[0] as f32;
}

#[cuda_jit::kernel]
fn matched(x: &str, out: &mut [f32]) {
    match x {
        "a" => out[0] = 1.0,
        _ => {}
    }
}

#[cuda_jit::kernel]
fn pointer(x: &[f32], out: &mut [f32]) {
    let p: *const f32 = x.as_ptr();
    out[0] = unsafe { *p };
}

#[cuda_jit::kernel]
fn pointer_parameter(x: *const f32, out: &mut [f32]) {
    out[0] = unsafe { *x };
}

#[cuda_jit::kernel]
fn pointer_cast(out: &mut [f32]) {
    let p = &mut out[0] as *mut f32;
    unsafe { *p = 2.0 };
}

#[cuda_jit::kernel]
fn pointer_taken(out: &mut [f32]) {
    let p = &raw mut out[0];
    unsafe { *p = 2.0 };
}

#[cuda_jit::kernel]
fn reads_static(out: &mut [u32]) {
    out[0] = unsafe { COUNT };
}

#[cuda_jit::kernel]
fn writes_static(out: &mut [u32]) {
    unsafe { COUNT += 1 };
}

#[cuda_jit::kernel]
fn own_static(out: &mut [u32]) {
    static mut CALLS: u32 = 0;
    unsafe { CALLS = out[0] };
}

#[cuda_jit::kernel]
fn writes_constant(out: &mut [u32]) {
    LIMITS[0] = out[0];
}

#[cuda_jit::kernel]
fn launches(out: &mut [u32]) {
    writes_constant::launch((1, 1), out);
}

#[cuda_jit::kernel]
fn vector_parameter(x: &Vec<f32>, out: &mut [f32]) {
    out[0] = x[0];
}

#[cuda_jit::kernel]
fn vector_written(out: &mut Vec<f32>) {
    out[0] = 1.0;
}

#[cuda_jit::kernel]
fn number_by_reference(x: &f32, out: &mut [f32]) {
    out[0] = *x;
}

#[cuda_jit::kernel]
fn number_written(x: &mut f32) {
    *x = 1.0;
}

#[cuda_jit::kernel]
fn waits(out: &mut [f32]) {
    let later = async { 1.0 };
    out[0] = later.await;
}

#[cuda_jit::kernel]
fn own_function(out: &mut [u32]) {
    const fn limit() -> u32 {
        3
    }
    const LIMIT: u32 = limit();
    fn plain(v: u32) -> u32 {
        v + 1
    }
    out[0] = plain(out[1] + LIMIT);
}

/// Only the body that is refused is an error, and none of its calls.
#[derive(Clone, Copy, cuda_jit::DeviceType)]
#[operators(Add)]
struct Printed(u32);

#[cuda_jit::device]
impl Printed {
    fn shown(self) -> u32 {
        println!("{}", self.0);
        self.0
    }

    fn number(self) -> u32 {
        self.0
    }
}

#[cuda_jit::device]
impl std::ops::Add for Printed {
    type Output = Printed;
    fn add(self, other: Printed) -> Printed {
        print!("{}", other.0);
        self
    }
}

#[cuda_jit::device]
trait Shown {
    fn seen(&self) -> u32;
    fn twice(&self) -> u32 {
        eprintln!("twice");
        2 * self.seen()
    }
}

#[cuda_jit::device]
impl Shown for Printed {
    fn seen(&self) -> u32 {
        println!("seen");
        self.0
    }
}

#[cuda_jit::kernel]
fn calls_refused(out: &mut [u32]) {
    let both = Printed(out[0]) + Printed(out[1]);
    out[0] = both.shown() + both.number() + both.seen() + both.twice();
}

fn main() {
    let mut out = [0.0f32];
    let _ = number_written::launch((1, 1), &mut out);
    let _ = text::launch((1, 1), &mut out);
}
