//! Prints the milliseconds in which the driver alone loads the PTX of a file, to compare with a bundled kernel's first launch.

use std::time::Instant;

use cuda_prelude::*;

fn main() -> Result<()> {
    let context = current_context()?;
    let file = std::env::args().nth(1).expect("the PTX's file is the argument");
    let ptx = std::fs::read_to_string(file).expect("it can be read");
    let start = Instant::now();
    // SAFETY: no kernel of the module is launched.
    let module = unsafe { cuda_driver::Module::load_ptx(&context, &ptx) }?;
    module.function("add_arrays")?;
    println!("{}", start.elapsed().as_secs_f64() * 1000.0);
    Ok(())
}
