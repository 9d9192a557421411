//! Bindings, and the frames of the functions and closures that are lowered into one KIR function.
//!
//! A KIR function is lowered from one captured function and those inlined into it because they take closures or return
//! references. Each has a [`Frame`]. The current frame is the one whose syntax is being lowered: the innermost, or for
//! a closure's body the frame that contains the closure.
//!
//! Queries of syntax that need only the bindings are in an `impl Scopes` in the file of their part of the language:
//! `types.rs` has the types of expressions.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::merge::MergeId;
use super::place::{Place, Root};
use super::types::Val;
use super::{Callee, LowerError, SourceLocation};
use crate::kir::{BlockId, SlotId, SourceScopeId, Value};
use crate::syntax::{Closure, Definition, Expr, Pos};
use crate::typeinfo::{ConstValue, GenericArg, Instance, Memory, Operation, Resolved, Ty, TypeInfo, Typing};

/// The storage of a binding's value.
#[derive(Clone, Debug)]
pub(super) enum Local {
    /// An immutable value.
    Fixed(Val),
    /// Slots.
    Slots(Ty, Vec<SlotId>, Root),
    /// Local memory, for a binding that is borrowed mutably.
    Memory(Value, Ty),
    /// Declared and not yet initialised; with the debug scope that its declaration opened.
    Late(Option<SourceScopeId>),
}

/// A loop or labelled block that is being lowered.
#[derive(Clone, Debug)]
pub(super) struct JumpTarget {
    pub(super) number: u32,
    pub(super) exit: BlockId,
    pub(super) continue_to: Option<BlockId>,
    /// The merge of the values of `break`.
    pub(super) result: Option<MergeId>,
}

/// The target of `return`.
#[derive(Clone, Debug)]
pub(super) enum Return {
    /// The KIR function's caller.
    Caller,
    /// The KIR function's caller, once the result is stored at the address.
    Memory(Value),
    /// The exit of an inlined body.
    Inlined(BlockId, MergeId),
}

/// The callable that a closure type stands for.
#[derive(Clone)]
pub(super) enum Callable {
    /// A closure.
    Closure(ClosureBody),
    /// A reference to a closure, which is its only capture.
    Borrowed,
    /// A device function.
    Function(Instance, Rc<TypeInfo>),
    /// An operation on these types, lowered in place.
    Operation(Operation, Rc<Typing>),
    /// The constructor of a tuple struct, or of a variant by number.
    Constructor(Ty, usize),
    /// A conversion of numbers, or of a type to itself.
    Conversion(Callee),
}

/// A closure without its captures.
#[derive(Clone)]
pub(super) struct ClosureBody {
    pub(super) closure: &'static Closure,
    pub(super) environment: Environment,
    /// The bindings that it captures by value.
    pub(super) captures: Rc<[u32]>,
    /// The type of its result, if it is known without the context.
    pub(super) result: Option<Ty>,
    /// The scope of the closure expression.
    pub(super) scope: Option<SourceScopeId>,
}

/// The frame that the body of a closure resolves bindings in.
#[derive(Clone)]
pub(super) enum Environment {
    /// The frame that contains it, which outlives the closure.
    Frame(usize),
    /// A frame of its own, like this one, with the captured bindings.
    Own(Rc<Frame>),
}

impl PartialEq for ClosureBody {
    /// Returns true if both closures have the same body in the same environment.
    fn eq(&self, other: &Self) -> bool {
        let environments = match (&self.environment, &other.environment) {
            (Environment::Frame(a), Environment::Frame(b)) => a == b,
            (Environment::Own(a), Environment::Own(b)) => {
                a.generics == b.generics && (a.checked, a.unchecked) == (b.checked, b.unchecked)
            }
            _ => false,
        };
        std::ptr::eq(self.closure, other.closure)
            && environments
            && self.captures == other.captures
            && self.result == other.result
    }
}

/// The frame of a captured function whose body is being lowered.
pub(super) struct Frame {
    pub(super) definition: &'static Definition,
    /// True if overflow panics: an option of the function, or of the kernel for a launch's closure.
    pub(super) checked: bool,
    /// True if indices are not checked: an option of the function, or of the caller for the device library.
    pub(super) unchecked: bool,
    /// The location that its panics report instead of their own.
    pub(super) caller: Option<SourceLocation>,
    /// The caller's frame and the position of the call, if it is inlined.
    pub(super) call_site: Option<(usize, Pos)>,
    pub(super) file: Arc<str>,
    pub(super) generics: Vec<GenericArg>,
    pub(super) info: Rc<TypeInfo>,
    pub(super) callees: Rc<[Callee]>,
    pub(super) locals: HashMap<u32, Local>,
    pub(super) targets: Vec<JumpTarget>,
    pub(super) returns: Vec<Return>,
    /// Cached types of expressions.
    pub(super) types: RefCell<HashMap<*const Expr, Ty>>,
}

impl Frame {
    /// The frame of a function.
    ///
    /// # Panics
    ///
    /// If the type information belongs to another function: a hidden function of the macros was written by hand.
    pub(super) fn new(
        definition: &'static Definition,
        generics: Vec<GenericArg>,
        info: Rc<TypeInfo>,
        returns: Return,
    ) -> Self {
        assert!(
            std::ptr::eq(info.of, definition),
            "what rustc reported of `{}` is another function's",
            definition.name
        );
        let callees = info.callees.iter().map(Callee::of).collect();
        let crate::syntax::Options { checked, unchecked, .. } = definition.options;
        Self { returns: vec![returns], ..Self::empty(definition, (checked, unchecked), generics, (info, callees)) }
    }

    /// A frame of the same function without bindings.
    pub(super) fn unbound(&self) -> Self {
        let reported = (self.info.clone(), self.callees.clone());
        Self::empty(self.definition, (self.checked, self.unchecked), self.generics.clone(), reported)
    }

    fn empty(
        definition: &'static Definition,
        (checked, unchecked): (bool, bool),
        generics: Vec<GenericArg>,
        (info, callees): (Rc<TypeInfo>, Rc<[Callee]>),
    ) -> Self {
        let file = definition.file.into();
        let (locals, targets, returns) = (HashMap::new(), Vec::new(), Vec::new());
        let (caller, call_site, types) = (None, None, RefCell::default());
        Self {
            definition,
            checked,
            unchecked,
            caller,
            call_site,
            file,
            generics,
            info,
            callees,
            locals,
            targets,
            returns,
            types,
        }
    }

    /// The type of a binding; closures and iterators have none.
    pub(super) fn binding_type(&self, number: u32) -> Option<Ty> {
        let reported = self.definition.bindings[number as usize].reported?;
        self.info.bindings[reported as usize].clone()
    }

    /// The constant that a name in a pattern resolved to.
    pub(super) fn named_constant(&self, number: u32) -> Option<&ConstValue> {
        self.resolved_constant(self.definition.bindings[number as usize].query?)
    }

    /// The constant that a query of a pattern was answered with.
    pub(super) fn resolved_constant(&self, asked: u32) -> Option<&ConstValue> {
        match &self.info.patterns[asked as usize] {
            Some(Resolved::Constant(constant)) => Some(constant),
            _ => None,
        }
    }
}

/// The frames of a KIR function, and the places and memories that references in it point to.
pub(super) struct Scopes {
    pub(super) frames: Vec<Frame>,
    /// The frame whose syntax is being lowered.
    pub(super) current: usize,
    /// The places that mutable references name.
    pub(super) places: Vec<Place>,
    /// The memories of the references in each variable and each merge that holds some.
    pub(super) reference_memories: Vec<Vec<Memory>>,
    pub(super) facts: Facts,
}

/// Facts that lowering a function finds out, and that must be known from its start; see
/// [`Lowering::run`](super::function::Lowering::run).
#[derive(Default)]
pub(super) struct Facts {
    /// Bindings that must be in memory.
    pub(super) in_memory: HashSet<(*const Definition, u32)>,
    /// The memories of references in variables and merges, by their number in [`Scopes::reference_memories`].
    pub(super) memories: BTreeMap<usize, Vec<Memory>>,
    /// The callables that closure types stand for.
    pub(super) closures: Vec<Callable>,
}

impl Scopes {
    /// The scopes of a function.
    pub(super) fn new(frame: Frame, mut facts: Facts) -> Self {
        // scope numbers of an earlier attempt are invalid
        for function in &mut facts.closures {
            if let Callable::Closure(body) = function {
                body.scope = None;
            }
        }
        Scopes { frames: vec![frame], current: 0, places: Vec::new(), reference_memories: Vec::new(), facts }
    }

    /// The frame whose syntax is being lowered.
    pub(super) fn frame(&self) -> &Frame {
        &self.frames[self.current]
    }

    /// The frame whose syntax is being lowered, mutably.
    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frames[self.current]
    }

    /// Returns true if indices are checked.
    pub(super) fn checks_bounds(&self) -> bool {
        !self.frame().unchecked
    }

    /// Returns true if overflow panics.
    pub(super) fn checks_overflow(&self) -> bool {
        self.frame().checked
    }

    /// The position of the function, for errors without one of their own.
    pub(super) fn function_position(&self) -> Pos {
        Pos(self.frame().definition.line, 1)
    }

    /// An error at a position in the current frame; errors in the device library are reported at its call.
    pub(super) fn error(&self, at: Pos, message: impl Into<String>) -> LowerError {
        self.error_in(self.frame(), at, message)
    }

    /// The error of functions that are inlined into one another without end: the outermost one that calls itself, at that call.
    pub(super) fn endless_inlining(&self, at: Pos, called: &Definition) -> LowerError {
        let calls_again = |(number, frame): (usize, &'_ Frame)| {
            let mut within = self.frames[number + 1..].iter();
            within.find(|inner| std::ptr::eq(inner.definition, frame.definition)).map(|inner| (inner, inner.call_site))
        };
        let own = self.frames.iter().enumerate().filter(|(_, frame)| !frame.definition.options.library);
        let (name, caller, at) = match own.filter_map(calls_again).next() {
            Some((inner, Some((caller, call)))) => (inner.definition.name, &self.frames[caller], call),
            _ => (called.name, self.frame(), at),
        };
        let text = format!(
            "`{name}` takes closures, or returns or changes references, so it is inlined and cannot call itself"
        );
        self.error_in(caller, at, text)
    }

    fn error_in<'a>(&'a self, mut frame: &'a Frame, mut at: Pos, message: impl Into<String>) -> LowerError {
        while frame.definition.options.library
            && let Some((caller, call)) = frame.call_site
        {
            (frame, at) = (&self.frames[caller], call);
        }
        let (Definition { name, file, .. }, Pos(line, column)) = (frame.definition, at);
        LowerError { function: name, message: message.into(), file, line, column }
    }

    /// The location that a panic at a position reports, also one of a `#[track_caller]` callee: the call site if this
    /// function has that attribute, except in its closures.
    pub(super) fn panic_location(&self, at: Pos) -> SourceLocation {
        let frame = self.frame();
        let in_closure = frame.returns.len() > 1;
        frame.caller.filter(|_| !in_closure).unwrap_or(SourceLocation(frame.definition.file, at))
    }
}
