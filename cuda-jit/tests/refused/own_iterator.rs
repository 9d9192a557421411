//! A trait of one's own that is named as one of the standard library's, in a bound.
mod own {
    #[cuda_jit::device]
    pub trait Iterator {
        fn step(&self) -> f32;
    }

    #[cuda_jit::device]
    fn stepped<I: Iterator>(of: I) -> f32 {
        of.step()
    }
}

fn main() {}
