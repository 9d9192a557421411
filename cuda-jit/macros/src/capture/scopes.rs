//! Scopes of a body: its bindings, and the declaration that each use of a name, label or item refers to.
//!
//! Names are compared by spelling. If a macro may have assembled the body, rustc is queried as well
//! ([`resolution`](super::resolution)).

use cuda_jit_syntax::owned as s;
use syn::ext::IdentExt;
use syn::{Ident, Item, Lifetime, UseTree};

/// A name that the body or signature binds.
pub(crate) struct BindingInfo {
    pub(crate) ident: Ident,
    pub(crate) mutable: bool,
    /// True if the pattern has `ref`.
    pub(crate) by_ref: bool,
    /// The kind of the binding.
    pub(crate) kind: BindingKind,
    /// The number of its type in the type information.
    pub(crate) reported: Option<u32>,
    /// The number of the query that decides if it is a constant's name.
    pub(crate) query: Option<u32>,
}

impl BindingInfo {
    /// Returns true if the typing probe reports its type.
    pub(crate) fn is_reported(&self) -> bool {
        self.kind != BindingKind::Closure
    }
}

/// The source of a binding's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BindingKind {
    /// The signature: the parameter of that index.
    Param(usize),
    /// Its witness.
    Local,
    /// The host variable that a launch's closure captures.
    HostCapture,
    /// None: it names a closure, which has no device type.
    Closure,
}

/// The spelling of a name, by which the walk compares: `r#x` is `x`.
pub(super) fn spelling(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// A loop or labelled block that `break` and `continue` can target.
struct Label {
    name: Option<Lifetime>,
    number: u32,
    is_loop: bool,
    /// True for a `for` or `while` loop, which `break` leaves without a value.
    is_valueless: bool,
}

/// A lexical scope.
struct Scope {
    /// The number of names outside of it.
    names: usize,
    /// The innermost block with items that it is or lies in; 0 outside of any.
    block: u32,
}

/// The body of a function or closure.
#[derive(Default)]
struct Body {
    /// The loops and labelled blocks around the current node.
    labels: Vec<Label>,
    /// True if it contains a `return`.
    returns: bool,
    /// The captures of a `move` closure.
    moved: Option<Moved>,
}

/// The bindings that a `move` closure captures.
struct Moved {
    /// The number of its own first binding; lower numbers belong to its surroundings.
    first: u32,
    taken: Vec<s::Name>,
}

/// The host variables that a launch's closure captures.
struct HostCaptures {
    names: Vec<(Ident, u32)>,
    /// True if a macro may have assembled the closure: each use of a host variable is then captured by itself.
    each_use: bool,
}

/// The scopes of a body.
#[derive(Default)]
pub(super) struct Scopes {
    bindings: Vec<BindingInfo>,
    /// Names in scope, innermost last: their spelling and number, or `None` for an item of the body.
    names: Vec<(String, Option<u32>)>,
    scopes: Vec<Scope>,
    /// The number of blocks with items so far.
    blocks: u32,
    /// The functions among the items of the body.
    functions: Vec<Ident>,
    /// The number of loops and labelled blocks so far.
    labels: u32,
    /// The outermost body, which is the captured function's.
    outermost: Body,
    /// The closures around the current node, innermost last.
    closures: Vec<Body>,
    /// The captures of a launch's closure, if one is captured.
    host_captures: Option<HostCaptures>,
}

impl Scopes {
    /// The scopes of a launch's closure, which captures host variables; each use by itself if `each_use`.
    pub(super) fn of_launched_closure(each_use: bool) -> Self {
        Scopes { host_captures: Some(HostCaptures { names: Vec::new(), each_use }), ..Scopes::default() }
    }

    /// The bindings in order.
    pub(super) fn bindings(&self) -> &[BindingInfo] {
        &self.bindings
    }

    /// The bindings, and the captured host variables with theirs.
    pub(super) fn into_bindings(self) -> (Vec<BindingInfo>, Vec<(Ident, u32)>) {
        (self.bindings, self.host_captures.map(|host_captures| host_captures.names).unwrap_or_default())
    }

    /// The number of bindings, which is the number of the next one.
    pub(super) fn count(&self) -> u32 {
        self.bindings.len() as u32
    }

    pub(super) fn binding(&self, number: u32) -> &BindingInfo {
        &self.bindings[number as usize]
    }

    pub(super) fn binding_mut(&mut self, number: u32) -> &mut BindingInfo {
        &mut self.bindings[number as usize]
    }

    /// Numbers the types of the first `all` bindings, and of each later one that has one.
    pub(super) fn number_types(&mut self, all: usize) {
        let bindings = self.bindings.iter_mut().enumerate();
        let reported = bindings.filter(|(index, binding)| *index < all || binding.is_reported());
        (0..).zip(reported).for_each(|(number, (_, binding))| binding.reported = Some(number));
    }

    /// Adds a binding and brings it into scope.
    pub(super) fn declare(&mut self, ident: &Ident, mutable: bool, kind: BindingKind) -> u32 {
        let number = self.add(ident, mutable, kind);
        self.names.push((spelling(ident), Some(number)));
        number
    }

    fn add(&mut self, ident: &Ident, mutable: bool, kind: BindingKind) -> u32 {
        let number = self.count();
        self.bindings.push(BindingInfo {
            ident: ident.clone(),
            mutable,
            by_ref: false,
            kind,
            reported: None,
            query: None,
        });
        number
    }

    /// The binding of a host variable, if a launch's closure is captured. Upper-case names are taken for constants.
    pub(super) fn capture_host_variable(&mut self, ident: &Ident) -> Option<u32> {
        self.host_captures.as_ref()?;
        if ident.to_string().trim_start_matches('_').starts_with(char::is_uppercase) {
            return None;
        }
        let number = self.add(ident, false, BindingKind::HostCapture);
        self.host_captures.as_mut()?.names.push((ident.clone(), number));
        Some(number)
    }

    /// True while a launch's closure is captured.
    pub(super) fn is_launched(&self) -> bool {
        self.host_captures.is_some()
    }

    /// The innermost binding of a name's spelling, unless an item shadows it. [`Capture::used`](super::Capture::used)
    /// decides which binding the name refers to; that one is of the same kind.
    pub(super) fn lookup(&self, ident: &Ident) -> Option<u32> {
        let spelled = spelling(ident);
        if let Some((_, number)) = self.names.iter().rev().find(|(name, _)| *name == spelled) {
            return *number;
        }
        let mut host_captures = self
            .host_captures
            .iter()
            .filter(|host_captures| !host_captures.each_use)
            .flat_map(|host_captures| &host_captures.names);
        host_captures.find(|(name, _)| spelling(name) == spelled).map(|(_, number)| *number)
    }

    /// Returns true if a name is a binding's, or may be a host variable.
    pub(super) fn may_be_local(&self, ident: &Ident) -> bool {
        self.is_launched() || self.lookup(ident).is_some()
    }

    /// Begins a scope.
    pub(super) fn enter(&mut self) {
        self.scopes.push(Scope { names: self.names.len(), block: self.block() });
    }

    /// Ends the innermost scope, and removes its names.
    pub(super) fn leave(&mut self) {
        if let Some(scope) = self.scopes.pop() {
            self.names.truncate(scope.names);
        }
    }

    /// The number of names in scope.
    pub(super) fn depth(&self) -> usize {
        self.names.len()
    }

    /// The bindings that came into scope after [`depth`](Self::depth) returned this number.
    pub(super) fn bound_since(&self, depth: usize) -> impl Iterator<Item = (String, u32)> {
        self.names[depth..].iter().filter_map(|(name, number)| Some((name.clone(), (*number)?)))
    }

    /// Brings the items of a block into scope, throughout the block.
    pub(super) fn declare_items<'i>(&mut self, items: impl Iterator<Item = &'i Item>) {
        let (mut names, mut any) = (Vec::new(), false);
        for item in items {
            any = true;
            match item {
                Item::Const(item) => names.push(&item.ident),
                Item::Static(item) => names.push(&item.ident),
                Item::Fn(item) => {
                    names.push(&item.sig.ident);
                    self.functions.push(item.sig.ident.clone());
                }
                Item::Struct(item) => names.push(&item.ident),
                Item::Use(item) => imported(&item.tree, &mut names),
                _ => {}
            }
        }
        if any {
            self.blocks += 1;
            let block = self.blocks;
            if let Some(scope) = self.scopes.last_mut() {
                scope.block = block;
            }
        }
        self.names.extend(names.into_iter().map(|name| (spelling(name), None)));
    }

    /// The number of the innermost block with items, which distinguishes items of one name; 0 outside of any.
    pub(super) fn block(&self) -> u32 {
        self.scopes.last().map_or(0, |scope| scope.block)
    }

    /// Returns true for the name of a function among the items of the body.
    pub(super) fn is_inner_function(&self, name: &Ident) -> bool {
        self.functions.contains(name)
    }

    /// The innermost body.
    fn body(&mut self) -> &mut Body {
        self.closures.last_mut().unwrap_or(&mut self.outermost)
    }

    /// Begins a closure's body, in which outer labels are not visible.
    pub(super) fn enter_closure(&mut self, moves: bool) {
        let moved = moves.then(|| Moved { first: self.count(), taken: Vec::new() });
        self.closures.push(Body { moved, ..Body::default() });
    }

    /// Ends a closure's body. Returns true if it contains a `return`, and the bindings that it moves.
    pub(super) fn leave_closure(&mut self) -> (bool, Vec<s::Name>) {
        let body = self.closures.pop().unwrap_or_default();
        (body.returns, body.moved.map(|moved| moved.taken).unwrap_or_default())
    }

    /// Returns true within a closure.
    pub(super) fn is_in_closure(&self) -> bool {
        !self.closures.is_empty()
    }

    /// Records that the innermost body contains a `return`.
    pub(super) fn note_return(&mut self) {
        self.body().returns = true;
    }

    /// Records the use of a binding for the surrounding `move` closures: each captures the bindings that it, or a closure
    /// within it, uses. If rustc resolves the name, each binding of its spelling may be the one.
    pub(super) fn note_use(&mut self, ident: &Ident, found: u32, name: s::Name, is_asked: bool) {
        for moved in self.closures.iter_mut().filter_map(|body| body.moved.as_mut()) {
            let around = &self.bindings[..moved.first as usize];
            let is_around = match is_asked {
                true => around.iter().any(|info| spelling(&info.ident) == spelling(ident)),
                false => found < moved.first,
            };
            if is_around && !moved.taken.contains(&name) {
                moved.taken.push(name);
            }
        }
    }

    /// Begins a loop or labelled block, and returns its number.
    pub(super) fn enter_label(&mut self, name: Option<&Lifetime>, is_loop: bool) -> u32 {
        let number = self.labels;
        self.labels += 1;
        self.body().labels.push(Label { name: name.cloned(), number, is_loop, is_valueless: false });
        number
    }

    /// Ends the innermost loop or labelled block.
    pub(super) fn leave_label(&mut self) {
        self.body().labels.pop();
    }

    /// Records that the innermost loop has no value.
    pub(super) fn note_valueless(&mut self) {
        if let Some(label) = self.body().labels.last_mut() {
            label.is_valueless = true;
        }
    }

    /// Returns true if a `break` leaves a loop that has no value.
    pub(super) fn is_valueless(&self, label: Option<&Lifetime>) -> bool {
        self.targeted(label).is_some_and(|target| target.is_valueless)
    }

    /// The number of the loop or block that `break` or `continue` targets, judged by spelling.
    pub(super) fn target(&self, label: Option<&Lifetime>, only_loops: bool) -> Option<u32> {
        Some(self.targeted(label).filter(|target| target.is_loop || !only_loops)?.number)
    }

    fn targeted(&self, label: Option<&Lifetime>) -> Option<&Label> {
        let body = self.closures.last().unwrap_or(&self.outermost);
        body.labels.iter().rev().find(|target| match label {
            Some(label) => target.name.as_ref().is_some_and(|name| spelling(&name.ident) == spelling(&label.ident)),
            None => target.is_loop,
        })
    }
}

/// Collects the names that an import brings in; those of a glob are unknown.
fn imported<'i>(tree: &'i UseTree, names: &mut Vec<&'i Ident>) {
    match tree {
        UseTree::Path(path) => imported(&path.tree, names),
        UseTree::Name(name) => names.push(&name.ident),
        UseTree::Rename(rename) => names.push(&rename.rename),
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|tree| imported(tree, names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;
    use syn::parse_quote;

    fn name(text: &str) -> Ident {
        Ident::new(text, Span::call_site())
    }

    fn local(scopes: &mut Scopes, text: &str) -> u32 {
        scopes.declare(&name(text), false, BindingKind::Local)
    }

    #[test]
    fn a_name_means_the_innermost_binding_until_its_scope_ends() {
        let mut scopes = Scopes::default();
        let outer = local(&mut scopes, "x");
        scopes.enter();
        let inner = scopes.declare(&Ident::new_raw("x", Span::call_site()), false, BindingKind::Local);
        assert_eq!(scopes.lookup(&name("x")), Some(inner));
        scopes.leave();
        assert_eq!(scopes.lookup(&name("x")), Some(outer));
        assert_eq!(scopes.lookup(&name("y")), None);
    }

    #[test]
    fn an_item_hides_a_binding_and_numbers_its_block() {
        let (items, mut scopes): ([Item; 2], _) = (
            [
                parse_quote!(
                    const X: u8 = 1;
                ),
                parse_quote!(
                    use a::{b as y, c::*};
                ),
            ],
            Scopes::default(),
        );
        local(&mut scopes, "X");
        local(&mut scopes, "y");
        scopes.enter();
        scopes.declare_items(items[..1].iter());
        assert_eq!((scopes.lookup(&name("X")), scopes.block()), (None, 1));
        scopes.enter();
        scopes.declare_items([].iter());
        assert_eq!(scopes.block(), 1);
        scopes.declare_items(items[1..].iter());
        assert_eq!((scopes.lookup(&name("y")), scopes.block()), (None, 2));
        scopes.leave();
        assert_eq!((scopes.lookup(&name("y")), scopes.block()), (Some(1), 1));
        scopes.leave();
        assert_eq!((scopes.lookup(&name("X")), scopes.block()), (Some(0), 0));
    }

    #[test]
    fn labels_end_where_a_closure_begins() {
        let (mut scopes, label): (_, Lifetime) = (Scopes::default(), parse_quote!('a));
        let outer = scopes.enter_label(Some(&label), true);
        let block = scopes.enter_label(None, false);
        assert_eq!((scopes.target(Some(&label), true), scopes.target(None, false)), (Some(outer), Some(outer)));
        scopes.enter_closure(false);
        assert_eq!(scopes.target(Some(&label), false), None);
        scopes.leave_closure();
        assert_eq!(scopes.target(Some(&label), false), Some(outer));
        scopes.leave_label();
        scopes.leave_label();
        assert_eq!((scopes.target(None, false), block), (None, outer + 1));
    }

    #[test]
    fn a_closure_notes_its_own_returns_and_moves() {
        let mut scopes = Scopes::default();
        let around = local(&mut scopes, "a");
        scopes.enter_closure(true);
        let own = local(&mut scopes, "b");
        for number in [around, own, around] {
            scopes.note_use(&name("a"), number, number.into(), false);
        }
        scopes.note_return();
        scopes.enter_closure(false);
        assert!(!scopes.leave_closure().0);
        let (returns, moved) = scopes.leave_closure();
        assert!(returns && moved == [s::Name::from(around)]);
    }

    #[test]
    fn a_closure_moves_what_one_within_it_uses() {
        let mut scopes = Scopes::default();
        let around = local(&mut scopes, "a");
        scopes.enter_closure(true);
        let between = local(&mut scopes, "b");
        scopes.enter_closure(false);
        for number in [around, between] {
            scopes.note_use(&name("x"), number, number.into(), false);
        }
        assert!(scopes.leave_closure().1.is_empty());
        assert!(scopes.leave_closure().1 == [s::Name::from(around)]);
    }

    #[test]
    fn a_launched_closure_captures_unbound_names() {
        let mut scopes = Scopes::of_launched_closure(false);
        assert_eq!(scopes.capture_host_variable(&name("SCALE")), None);
        let host = scopes.capture_host_variable(&name("k"));
        assert_eq!((host, scopes.lookup(&name("k"))), (Some(0), Some(0)));
        assert!(Scopes::default().capture_host_variable(&name("k")).is_none());
        let mut each = Scopes::of_launched_closure(true);
        assert_eq!((each.capture_host_variable(&name("k")), each.lookup(&name("k"))), (Some(0), None));
    }

    #[test]
    fn types_are_numbered_but_those_of_closures() {
        let mut scopes = Scopes::default();
        let kinds = [BindingKind::Closure, BindingKind::Closure, BindingKind::Local];
        kinds.into_iter().for_each(|kind| _ = scopes.declare(&name("x"), false, kind));
        scopes.number_types(1);
        assert_eq!(scopes.bindings().iter().map(|info| info.reported).collect::<Vec<_>>(), [Some(0), None, Some(1)]);
    }
}
