#[cuda_jit::kernel]
fn returns(out: &mut [f32]) -> f32 {
    out[0]
}

#[cuda_jit::kernel]
async fn asynchronous(out: &mut [f32]) {}

#[cuda_jit::kernel]
unsafe fn dangerous(out: &mut [f32]) {}

#[cuda_jit::kernel]
extern "C" fn foreign(out: &mut [f32]) {}

#[cuda_jit::kernel]
fn anonymous(x: impl Copy, out: &mut [f32]) {}

#[cuda_jit::kernel]
fn at_the_host((a, b): (u32, char), out: &mut [f32]) {}

struct Owner;

impl Owner {
    #[cuda_jit::kernel]
    fn method(&self, out: &mut [f32]) {}
}

#[cuda_jit::kernel]
struct NotAFunction;

#[cuda_jit::device]
fn never(x: u32) -> ! {
    panic!("never {x}")
}

#[cuda_jit::device]
async fn asynchronous_on_the_device(x: u32) -> u32 {
    x
}

#[cuda_jit::device]
unsafe fn dangerous_on_the_device(x: u32) -> u32 {
    x
}

#[cuda_jit::device]
extern "C" fn foreign_on_the_device(x: u32) -> u32 {
    x
}

#[cuda_jit::kernel]
fn unsized_parameter(x: [f32], out: &mut [f32]) {
    out[0] = x[0];
}

fn main() {}
