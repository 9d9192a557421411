//! A minimal program with Rust's standard library, to compare sizes with.

fn main() {
    println!("hello");
}
