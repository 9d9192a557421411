//! The stack of threads whose functions call themselves.
//!
//! For other kernels the assembler adds up the frames, and the driver provides for them. With a recursion it cannot, and the stack of
//! a thread, whatever its functions need, is the context's limit: 1 KiB, unless it is raised.

use super::{FuncId, Function, Module, Op};

/// The bytes for the calls of a recursion, whose frames are some 16 to 100 bytes.
const CALLS: u64 = 8 << 10;

impl Function {
    /// The functions that it calls.
    fn callees(&self) -> impl Iterator<Item = FuncId> {
        self.blocks.iter().flat_map(|block| &block.insts).filter_map(|inst| match inst.op {
            Op::Call(callee, _) => Some(callee),
            _ => None,
        })
    }
}

impl Module {
    /// The bytes of stack that a thread should have if a function can call itself, also by way of others: 8 KiB, and twice what the
    /// local arrays of all functions take, with their slots too if they are `unoptimised`. `None` for other modules.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 kernel f() { b0: call f1() return } \
    ///      device g() { array a0 row: u64 100 b0: call f1() return }".parse()?;
    /// assert_eq!(module.recursion_stack(false), Some(8192 + 2 * 800));
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    #[must_use]
    pub fn recursion_stack(&self, unoptimised: bool) -> Option<u64> {
        if !self.is_recursive() {
            return None;
        }
        let bytes = |function: &Function| {
            let arrays = function.arrays.iter().map(|array| array.len.saturating_mul(array.element.size().into()));
            let slots = function.slots.iter().filter(|_| unoptimised).map(|slot| u64::from(slot.ty.bytes()));
            arrays.chain(slots).fold(0, u64::saturating_add)
        };
        let frames = self.functions.iter().map(bytes).fold(0, u64::saturating_add);
        Some(CALLS.saturating_add(frames.saturating_mul(2)))
    }

    /// Returns true if a function can call itself.
    fn is_recursive(&self) -> bool {
        // A function whose callees all end is one that ends; those that are left call each other.
        let mut open: Vec<usize> = (0..self.functions.len()).collect();
        loop {
            let before = open.len();
            let left = open.clone();
            open.retain(|&at| self.functions[at].callees().any(|callee| left.contains(&callee.index())));
            if open.len() == before {
                return !open.is_empty();
            }
        }
    }
}
