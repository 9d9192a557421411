//! What a program of Rust's standard library is, to compare sizes with.

fn main() {
    println!("hello");
}
