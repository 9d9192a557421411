//! Bindings, and the functions and closures that are being lowered into one KIR function.
//!
//! A KIR function is lowered from one captured function and from those that are inlined into it, because closures or
//! references go in or come out. Each has a [`Frame`]; the current one is that whose syntax is being lowered: the innermost, but
//! for the body of a closure, which belongs to the frame that wrote it.
//!
//! Questions about syntax that need no more stand in an `impl Scopes` of the file of their part of the language: `types.rs`
//! has the types of expressions.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::merge::MergeId;
use super::place::{Place, Root};
use super::types::Val;
use super::{Callee, LowerError, Spot};
use crate::kir::{BlockId, SlotId, SourceScopeId, Value};
use crate::syntax::{Closure, Definition, Expr, Pos};
use crate::typeinfo::{ConstValue, GenericArg, Instance, Memory, Operation, Resolved, Ty, TypeInfo, Typing};

/// The place of a binding's value.
#[derive(Clone, Debug)]
pub(super) enum Local {
    /// It never changes.
    Fixed(Val),
    /// It is in slots.
    Slots(Ty, Vec<SlotId>, Root),
    /// It is in the thread's memory, since it is borrowed mutably.
    Cell(Value, Ty),
    /// Declared, and not yet given a value; with the scope that it began for a debugger.
    Late(Option<SourceScopeId>),
}

/// A loop or labelled block that is being lowered.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) number: u32,
    pub(super) exit: BlockId,
    pub(super) again: Option<BlockId>,
    /// The merge that takes the value of `break`.
    pub(super) result: Option<MergeId>,
}

/// The target of `return`.
#[derive(Clone, Debug)]
pub(super) enum Return {
    /// To the KIR function's caller.
    Caller,
    /// To where the result was to be stored, and then to the caller.
    Memory(Value),
    /// To where an inlined body ends.
    Inlined(BlockId, MergeId),
}

/// The callable that a closure's type stands for.
#[derive(Clone)]
pub(super) enum Captured {
    /// A closure.
    Written(Written),
    /// A reference to a closure, which is all that it has captured.
    Borrowed,
    /// A device function.
    Function(Instance, Rc<TypeInfo>),
    /// A function or method that is lowered in place, of these types.
    Operation(Operation, Rc<Typing>),
    /// The constructor of a tuple struct, or of the variant of this number.
    Constructor(Ty, usize),
    /// A conversion of numbers, or of a type to itself.
    Conversion(Callee),
}

/// A closure, but for the values that it has captured.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) closure: &'static Closure,
    pub(super) home: Home,
    /// The bindings whose values it has captured.
    pub(super) captures: Rc<[u32]>,
    /// The type of its result, as far as it tells by itself.
    pub(super) result: Option<Ty>,
    /// The scope that it was written in.
    pub(super) scope: Option<SourceScopeId>,
}

/// The bindings that the body of a closure names.
#[derive(Clone)]
pub(super) enum Home {
    /// Those of the frame that wrote it, which it does not outlive.
    Frame(usize),
    /// Those that it has captured, in a frame of its own that is like this one.
    Apart(Rc<Frame>),
}

impl PartialEq for Written {
    /// The same body, which means the same.
    fn eq(&self, other: &Self) -> bool {
        let homes = match (&self.home, &other.home) {
            (Home::Frame(a), Home::Frame(b)) => a == b,
            (Home::Apart(a), Home::Apart(b)) => {
                a.generics == b.generics && (a.checked, a.unchecked) == (b.checked, b.unchecked)
            }
            _ => false,
        };
        std::ptr::eq(self.closure, other.closure)
            && homes
            && self.captures == other.captures
            && self.result == other.result
    }
}

/// A captured function whose body is being lowered.
pub(super) struct Frame {
    pub(super) definition: &'static Definition,
    /// True where overflow is a panic: as the function asks for or, in a closure that a launch passes, as the kernel does.
    pub(super) checked: bool,
    /// True where indices are not checked: as the function asks for or, in the device library, as its caller does.
    pub(super) unchecked: bool,
    /// The source location that its panics report, if not their own.
    pub(super) caller: Option<Spot>,
    /// The frame that it was called from and where, if it is inlined.
    pub(super) called: Option<(usize, Pos)>,
    pub(super) file: Arc<str>,
    pub(super) generics: Vec<GenericArg>,
    pub(super) info: Rc<TypeInfo>,
    pub(super) callees: Rc<[Callee]>,
    pub(super) locals: HashMap<u32, Local>,
    pub(super) targets: Vec<Target>,
    pub(super) returns: Vec<Return>,
    /// The types of expressions that are known by now, so that each is found once.
    pub(super) types: RefCell<HashMap<*const Expr, Ty>>,
}

impl Frame {
    /// Of a function that is being lowered.
    ///
    /// # Panics
    ///
    /// If the type information is another function's: someone wrote a hidden function of the macros' by hand.
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

    /// A frame of the same function in which nothing is bound.
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
        let (caller, called, types) = (None, None, RefCell::default());
        Self {
            definition,
            checked,
            unchecked,
            caller,
            called,
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

    /// The type of a binding; a closure or iterator has none.
    pub(super) fn binding_type(&self, number: u32) -> Option<Ty> {
        let reported = self.definition.bindings[number as usize].reported?;
        self.info.bindings[reported as usize].clone()
    }

    /// The constant that a name in a pattern turned out to be.
    pub(super) fn named_constant(&self, number: u32) -> Option<&ConstValue> {
        self.resolved_constant(self.definition.bindings[number as usize].query?)
    }

    /// The constant that a question of a pattern was answered with.
    pub(super) fn resolved_constant(&self, asked: u32) -> Option<&ConstValue> {
        match &self.info.patterns[asked as usize] {
            Some(Resolved::Constant(constant)) => Some(constant),
            _ => None,
        }
    }
}

/// The frames of a KIR function, and what their bindings refer to.
pub(super) struct Scopes {
    pub(super) frames: Vec<Frame>,
    /// The frame whose syntax is being lowered.
    pub(super) current: usize,
    /// The places that mutable references name.
    pub(super) places: Vec<Place>,
    /// The memories of the references in each variable, and in each value that branches leave.
    pub(super) pointing: Vec<Vec<Memory>>,
    pub(super) learned: Learned,
}

/// What is found out while a function is lowered, and needed from its beginning; see
/// [`Lowering::run`](super::function::Lowering::run).
#[derive(Default)]
pub(super) struct Learned {
    /// Bindings that must lie in memory.
    pub(super) cells: HashSet<(*const Definition, u32)>,
    /// The memories of the references in variables, and in what branches leave, by the number of each in [`Scopes::pointing`].
    pub(super) memories: BTreeMap<usize, Vec<Memory>>,
    /// The callables that the types of closures name.
    pub(super) closures: Vec<Captured>,
}

impl Scopes {
    /// The scopes of a function.
    pub(super) fn new(frame: Frame, mut learned: Learned) -> Self {
        // the scopes of an earlier lowering are gone
        for function in &mut learned.closures {
            if let Captured::Written(written) = function {
                written.scope = None;
            }
        }
        Scopes { frames: vec![frame], current: 0, places: Vec::new(), pointing: Vec::new(), learned }
    }

    /// The frame whose syntax is being lowered.
    pub(super) fn frame(&self) -> &Frame {
        &self.frames[self.current]
    }

    /// The same, to change it.
    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frames[self.current]
    }

    /// Returns true if the kernel's indices are checked.
    pub(super) fn checks_bounds(&self) -> bool {
        !self.frame().unchecked
    }

    /// Returns true if overflow is a panic.
    pub(super) fn checks_overflow(&self) -> bool {
        self.frame().checked
    }

    /// The line of the function's name, for errors of what has no place of its own.
    pub(super) fn beginning(&self) -> Pos {
        Pos(self.frame().definition.line, 1)
    }

    /// An error at a place in this function; one in the device library is where that was called.
    pub(super) fn error(&self, at: Pos, message: impl Into<String>) -> LowerError {
        let (mut frame, mut at) = (self.frame(), at);
        while frame.definition.options.library
            && let Some((caller, call)) = frame.called
        {
            (frame, at) = (&self.frames[caller], call);
        }
        let (Definition { name, file, .. }, Pos(line, column)) = (frame.definition, at);
        LowerError { function: name, message: message.into(), file, line, column }
    }

    /// The source location that a panic here reports, or one of a callee with `#[track_caller]`: that where the function was
    /// called if it has that attribute, which a closure in it does not have.
    pub(super) fn spot(&self, at: Pos) -> Spot {
        let frame = self.frame();
        let in_closure = frame.returns.len() > 1;
        frame.caller.filter(|_| !in_closure).unwrap_or(Spot(frame.definition.file, at))
    }
}
