//! The library exports what `nccl.h` declares: every function under both of its names.

use cuda_sys::nccl::SYMBOLS;

use crate::support::symbol;

#[test]
fn every_function_of_the_header_is_exported_twice() {
    for function in SYMBOLS {
        let name = function.name;
        assert!(symbol(name).is_some() && symbol(&format!("p{name}")).is_some(), "{name} is missing");
    }
    assert!(symbol("ncclNoSuchFunction").is_none());
}
