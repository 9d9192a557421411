//! Blocks, branches and loops.

use super::copies::is_place;
use super::function::{JumpTarget, Local, Lowering, Result, Return};
use super::loops::For;
use super::merge::MergeId;
use super::place::{Access, Place};
use super::scopes::Scopes;
use super::types::{Val, tried_variants};
use crate::kir::{BlockId, Scalar, Terminator};
use crate::syntax::{Arm, Block, Condition, Expr, ExprKind, Pattern, Pos, Stmt, UnaryOp, ensure_sufficient_stack};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{ConstValue, Ty};

impl Lowering<'_> {
    /// Lowers an expression with control flow.
    pub(super) fn control(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let Expr(at, kind) = expr;
        match kind {
            ExprKind::Block(None, block) => self.block(block, expected),
            ExprKind::Block(Some(label), block) => self.labelled_block(*at, *label, block, expected),
            ExprKind::If(condition, body, otherwise) => {
                let ty = self.scopes.merged_type(expr, expected);
                self.branch(*at, condition, body, otherwise.as_ref().copied(), &ty)
            }
            ExprKind::Match(value, arms) => {
                let ty = self.scopes.merged_type(expr, expected);
                self.match_on(value, arms, &ty)
            }
            ExprKind::While(number, condition, body) => self.while_loop(*number, condition, body),
            ExprKind::Loop(number, body) => self.endless_loop(*number, body, expected),
            ExprKind::For(number, pattern, source, body, into, next) => {
                self.for_loop(*at, For { number: *number, pattern, source, body, into: *into, next: *next })
            }
            ExprKind::Break(number, value) => self.break_out(*number, value.as_ref().copied(), expected),
            ExprKind::Continue(number) => {
                let target = self.scopes.target(*number).and_then(|target| target.continue_to);
                if let Some(block) = target {
                    self.build.end(Terminator::Jump(block));
                }
                Ok(self.build.placeholder(expected.unwrap_or(&Ty::Unit)))
            }
            ExprKind::Return(value) => self.return_value(*at, value.as_ref().copied(), expected),
            ExprKind::Try(value, conversion) => self.question_mark(*at, value, *conversion),
            _ => Err(self.error(*at, "the front end does not know this expression; please report this")),
        }
    }

    /// Lowers a block; its value is that of its last expression.
    pub(super) fn block(&mut self, block: &'static Block, expected: Option<&Ty>) -> Result<Val> {
        let scope = self.build.scope();
        let value = self.statements(block, expected);
        self.build.set_scope(scope);
        value
    }

    fn statements(&mut self, block: &'static Block, expected: Option<&Ty>) -> Result<Val> {
        for stmt in block.stmts {
            match stmt {
                Stmt::Expr(expr) => {
                    self.expr_in_place(expr, None)?;
                }
                Stmt::Closure(number, closure) => {
                    let closure = self.capture(closure);
                    self.bind_local(*number, closure);
                }
                Stmt::Let(pattern, Some(init), otherwise) => {
                    self.bind_let(pattern, init, otherwise.as_ref().copied())?;
                }
                Stmt::Let(pattern, None, _) => {
                    for number in self.scopes.names(pattern) {
                        let at = self.frame().definition.bindings[number as usize].at;
                        let late = Local::Late(self.enter(at));
                        self.frame_mut().locals.insert(number, late);
                        // the array's storage must dominate every branch that initialises it
                        if let Some(ty @ Ty::Array(..)) = self.frame().binding_type(number)
                            && ty.is_plain()
                        {
                            let array = self.build.new_array("late", &ty);
                            let array = self.build.fresh(array);
                            self.bind_local(number, array);
                        }
                    }
                }
            }
        }
        match block.tail {
            Some(tail) => self.expr_in_place(tail, expected),
            None if self.build.ended() => Ok(self.build.placeholder(expected.unwrap_or(&Ty::Unit))),
            None => Ok(Val::unit()),
        }
    }

    /// `let pattern = init else { .. };`
    fn bind_let(
        &mut self,
        pattern: &'static Pattern,
        init: &'static Expr,
        otherwise: Option<&'static Block>,
    ) -> Result<()> {
        let place = self.scrutinee(init, [pattern].into_iter())?;
        let outer = self.set_location_at(init.0);
        let bound = self.bind_or_else(pattern, &place, otherwise);
        self.build.set_location(outer);
        bound
    }

    /// Binds the names of a pattern, or runs the `else` block if it does not match.
    fn bind_or_else(
        &mut self,
        pattern: &'static Pattern,
        place: &Place,
        otherwise: Option<&'static Block>,
    ) -> Result<()> {
        let Some(otherwise) = otherwise else { return self.bind(pattern, place) };
        let (fail, next) = (self.build.block(), self.build.block());
        self.bind_or_fail(pattern, place, Some(fail))?;
        self.build.end(Terminator::Jump(next));
        self.build.select_block(fail);
        self.block(otherwise, None)?;
        self.build.select_block(next);
        Ok(())
    }

    /// Lowers the scrutinee of patterns to a place; other expressions to a value. A number is read once.
    fn scrutinee(&mut self, value: &'static Expr, patterns: impl Iterator<Item = &'static Pattern>) -> Result<Place> {
        let patterns: Vec<&'static Pattern> = patterns.collect();
        let is_place = is_place(value);
        let access = Access::of(patterns.iter().any(|pattern| self.scopes.borrows_mutably(pattern)));
        if is_place && !patterns.iter().all(|pattern| matches!(pattern, Pattern::Bind(_))) {
            let place = self.place_for(value, access)?;
            let number = matches!(place.ty(), Ty::Scalar(_) | Ty::Enum(..)) && !self.scopes.borrows(&patterns);
            return Ok(if number { Place::Fixed(self.build.read(&place)) } else { place });
        }
        if is_place {
            return self.place_for(value, access);
        }
        let named = patterns.iter().find_map(|pattern| match pattern {
            Pattern::Bind(number) if self.frame().named_constant(*number).is_none() => self.scopes.place_type(*number),
            _ => None,
        });
        let ty = named.or_else(|| self.ty_of(value));
        Ok(Place::Fixed(match ty {
            Some(ty) => self.expr_as(value, &ty)?,
            None => self.expr(value, None)?,
        }))
    }

    /// Coerces a branch's value to the common type, stores it for the merge and jumps to `exit`.
    fn finish_branch(&mut self, at: Pos, value: Val, merge: MergeId, exit: BlockId) -> Result<()> {
        let ty = self.merge_type(merge);
        let value = self.coerce(at, value, &ty)?;
        self.merge_and_jump(at, value, merge, exit)
    }

    fn branch(
        &mut self,
        at: Pos,
        condition: &'static Condition,
        body: &'static Block,
        otherwise: Option<&'static Expr>,
        ty: &Ty,
    ) -> Result<Val> {
        match (self.scopes.known_condition(condition), otherwise) {
            (Some(true), _) => return self.block(body, Some(ty)),
            (Some(false), Some(otherwise)) => return self.expr_in_place(otherwise, Some(ty)),
            (Some(false), None) => return Ok(Val::unit()),
            (None, _) => {}
        }
        let (fail, exit) = (self.build.block(), self.build.block());
        let merge = self.merge("if", ty.clone());
        let scope = self.build.scope();
        self.condition(condition, fail)?;
        let value = self.block(body, Some(ty))?;
        self.build.set_scope(scope);
        self.finish_branch(at, value, merge, exit)?;
        self.build.select_block(fail);
        if let Some(otherwise) = otherwise {
            let value = self.expr_in_place(otherwise, Some(ty))?;
            self.finish_branch(otherwise.0, value, merge, exit)?;
        } else {
            self.build.end(Terminator::Jump(exit));
        }
        self.build.select_block(exit);
        Ok(self.merge_result(merge))
    }

    /// Continues with the names bound if the condition holds, else jumps to `fail`.
    fn condition(&mut self, condition: &'static Condition, fail: BlockId) -> Result<()> {
        match condition {
            Condition::Bool(condition) => {
                let condition = self.scalar(condition, Scalar::Bool)?;
                let next = self.build.block();
                self.build.end(Terminator::Branch(condition, next, fail));
                self.build.select_block(next);
                Ok(())
            }
            Condition::Let(pattern, value) => {
                let place = self.scrutinee(value, [pattern].into_iter())?;
                self.bind_or_fail(pattern, &place, Some(fail))
            }
            Condition::All(conditions) => conditions.iter().try_for_each(|condition| self.condition(condition, fail)),
        }
    }

    fn match_on(&mut self, value: &'static Expr, arms: &'static [Arm], ty: &Ty) -> Result<Val> {
        let place = self.scrutinee(value, arms.iter().map(|arm| &arm.pattern))?;
        let exit = self.build.block();
        let merge = self.merge("match", ty.clone());
        let last = arms.len().saturating_sub(1);
        for (index, arm) in arms.iter().enumerate() {
            let next = self.build.block();
            // rustc has checked that the arms are exhaustive, so the last one needs no test
            let fail = (index != last || arm.guard.is_some()).then_some(next);
            let scope = self.build.scope();
            self.arm(arm, &place, fail, &mut |lowering| {
                let result = lowering.expr_in_place(&arm.body, Some(ty))?;
                lowering.build.set_scope(scope);
                lowering.finish_branch(arm.body.0, result, merge, exit)
            })?;
            self.build.select_block(next);
        }
        self.build.end(Terminator::Jump(exit));
        self.build.select_block(exit);
        Ok(self.merge_result(merge))
    }

    /// Lowers an arm: guard and body once for each alternative that its or-patterns expand to. If the pattern binds no
    /// name, the alternatives share one body.
    fn arm(
        &mut self,
        arm: &'static Arm,
        place: &Place,
        fail: Option<BlockId>,
        body: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let guarded = arm.guard.is_some();
        let shared =
            (self.scopes.splits(&arm.pattern, guarded) && !self.scopes.binds(&arm.pattern)).then(|| self.build.block());
        self.matched(&arm.pattern, place, fail, guarded, &mut |lowering, names, fail| {
            lowering.bind_names(names)?;
            if let (Some(guard), Some(fail)) = (&arm.guard, fail) {
                lowering.condition(guard, fail)?;
            }
            match shared {
                Some(shared) => lowering.build.end(Terminator::Jump(shared)),
                None => body(lowering)?,
            }
            Ok(())
        })?;
        if let Some(shared) = shared {
            self.build.select_block(shared);
            body(self)?;
        }
        Ok(())
    }

    fn labelled_block(&mut self, at: Pos, number: u32, block: &'static Block, expected: Option<&Ty>) -> Result<Val> {
        let known = || self.scopes.ty_of_block(block).or_else(|| self.scopes.ty_of_break(number, block));
        let ty = expected.cloned().or_else(known).unwrap_or(Ty::Unit);
        let exit = self.build.block();
        let merge = self.merge("block", ty.clone());
        self.frame_mut().targets.push(JumpTarget { number, exit, continue_to: None, result: Some(merge) });
        let value = self.block(block, Some(&ty))?;
        self.frame_mut().targets.pop();
        self.finish_branch(at, value, merge, exit)?;
        self.build.select_block(exit);
        Ok(self.merge_result(merge))
    }

    fn while_loop(&mut self, number: u32, condition: &'static Condition, body: &'static Block) -> Result<Val> {
        let (header, exit) = (self.build.block(), self.build.block());
        self.build.jump_into(header);
        self.condition(condition, exit)?;
        self.loop_body(JumpTarget { number, exit, continue_to: Some(header), result: None }, body)?;
        self.build.end(Terminator::Jump(header));
        self.build.select_block(exit);
        Ok(Val::unit())
    }

    fn endless_loop(&mut self, number: u32, body: &'static Block, expected: Option<&Ty>) -> Result<Val> {
        let ty = expected.cloned().or_else(|| self.scopes.ty_of_break(number, body)).unwrap_or(Ty::Unit);
        let (header, exit) = (self.build.block(), self.build.block());
        let merge = self.merge("loop", ty);
        self.build.jump_into(header);
        self.loop_body(JumpTarget { number, exit, continue_to: Some(header), result: Some(merge) }, body)?;
        self.build.end(Terminator::Jump(header));
        self.build.select_block(exit);
        Ok(self.merge_result(merge))
    }

    /// Lowers a loop's body.
    pub(super) fn loop_body(&mut self, target: JumpTarget, body: &'static Block) -> Result<()> {
        self.frame_mut().targets.push(target);
        self.block(body, None)?;
        self.frame_mut().targets.pop();
        Ok(())
    }

    fn break_out(&mut self, number: u32, value: Option<&'static Expr>, expected: Option<&Ty>) -> Result<Val> {
        if let Some(target) = self.scopes.target(number) {
            if let (Some(value), Some(merge)) = (value, target.result) {
                let ty = self.merge_type(merge);
                let at = value.0;
                let value = self.expr_in_place(value, Some(&ty))?;
                let value = self.coerce(at, value, &ty)?;
                self.store_to_merge(at, value, merge)?;
            } else if let Some(merge) = target.result {
                self.store_to_merge(Pos(1, 1), Val::unit(), merge)?;
            }
            self.build.end(Terminator::Jump(target.exit));
        }
        Ok(self.build.placeholder(expected.unwrap_or(&Ty::Unit)))
    }

    /// The return type of the innermost function or closure.
    fn returned_type(&self) -> Ty {
        match self.frame().returns.last() {
            Some(Return::Inlined(_, merge)) => self.merge_type(*merge),
            _ => self.frame().info.result.clone(),
        }
    }

    /// Lowers `value?`: continues with the value of `Some`, `Ok` or `Continue`, or returns `None`, an `Err` of the converted
    /// error, or the `Break`.
    fn question_mark(&mut self, at: Pos, value: &'static Expr, conversion: u32) -> Result<Val> {
        let value = self.expr(value, None)?;
        let place = self.deref_all(Place::Fixed(value));
        let (Some((good, bad)), Some(of)) = (tried_variants(place.ty()), place.ty().as_sum().cloned()) else {
            let text = format!(
                "`?` takes an `Option`, a `Result` or a `ControlFlow`, not a value of type `{}`",
                ty_name(place.ty())
            );
            return Err(self.error(at, text));
        };
        let (fail, next) = (self.build.block(), self.build.block());
        self.build.test_tag(&place, good, fail);
        self.build.end(Terminator::Jump(next));
        self.build.select_block(fail);
        let (callees, mut parts) = (self.frame().callees.clone(), Vec::new());
        for index in of.fields_of(bad) {
            let error = self.build.part(&place, index);
            let error = self.build.read(&error);
            parts.push(self.converted(at, &callees[conversion as usize], error)?);
        }
        let ty = self.returned_type();
        let returned = self.build.constructed(&ty, bad, parts);
        self.return_from(at, returned)?;
        self.build.select_block(next);
        let held = self.build.part(&place, of.fields_of(good).start);
        Ok(self.build.read(&held))
    }

    fn return_value(&mut self, at: Pos, value: Option<&'static Expr>, expected: Option<&Ty>) -> Result<Val> {
        let ty = self.returned_type();
        let value = match value {
            Some(value) => self.expr_in_place(value, Some(&ty))?,
            None => Val::unit(),
        };
        self.return_from(at, value)?;
        Ok(self.build.placeholder(expected.unwrap_or(&Ty::Unit)))
    }
}

impl Scopes {
    /// Returns true if a pattern binds the whole place by reference.
    fn borrows(&self, patterns: &[&'static Pattern]) -> bool {
        patterns.iter().any(|pattern| match pattern {
            Pattern::Bind(number) | Pattern::At(number, _) => {
                matches!(self.frame().binding_type(*number), Some(Ty::Ref(..)))
            }
            _ => false,
        })
    }

    /// Returns true if a pattern binds a name by `ref mut`.
    fn borrows_mutably(&self, pattern: &Pattern) -> bool {
        let frame = self.frame();
        let is_mutable = |number: u32| {
            frame.definition.bindings[number as usize].by_ref
                && matches!(frame.binding_type(number), Some(Ty::Ref(_, memory)) if memory.writable())
        };
        self.names(pattern).into_iter().any(is_mutable)
    }

    /// The type of the place that a name binds.
    fn place_type(&self, number: u32) -> Option<Ty> {
        let frame = self.frame();
        match frame.binding_type(number)? {
            Ty::Ref(to, _) if frame.definition.bindings[number as usize].by_ref => Some(*to),
            ty => Some(ty),
        }
    }

    /// The common type of an expression's branches.
    fn merged_type(&self, expr: &Expr, expected: Option<&Ty>) -> Ty {
        expected.cloned().or_else(|| self.ty_of(expr)).unwrap_or_else(|| match tail_literal(expr) {
            Some(fallback) => Ty::Scalar(fallback),
            None => Ty::Unit,
        })
    }

    /// The value of a constant condition, of which only the taken branch is lowered.
    fn known_condition(&self, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::Bool(value) => self.known_bool(value),
            Condition::Let(..) | Condition::All(_) => None,
        }
    }

    fn known_bool(&self, Expr(_, kind): &Expr) -> Option<bool> {
        match kind {
            ExprKind::Const(number) => match &self.frame().info.consts[*number as usize] {
                ConstValue { ty: Ty::Scalar(Scalar::Bool), cells, .. } => cells.first().map(|bits| *bits != 0),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::Not, value) => self.known_bool(value).map(|value| !value),
            ExprKind::And(a, b) => match self.known_bool(a)? {
                true => self.known_bool(b),
                false => Some(false),
            },
            ExprKind::Or(a, b) => match self.known_bool(a)? {
                true => Some(true),
                false => self.known_bool(b),
            },
            _ => None,
        }
    }

    fn target(&self, number: u32) -> Option<JumpTarget> {
        self.frame().targets.iter().rev().find(|target| target.number == number).cloned()
    }
}

/// Returns true if a statement is known, by its form, to diverge.
pub(super) fn diverges(stmt: &Stmt) -> bool {
    let Stmt::Expr(expr) = stmt else { return false };
    matches!(expr.1, ExprKind::Return(_) | ExprKind::Break(..) | ExprKind::Continue(_) | ExprKind::Panic(_))
}

/// Rust's fallback type for an expression whose branches are unsuffixed literals.
fn tail_literal(expr: &Expr) -> Option<Scalar> {
    ensure_sufficient_stack(|| match &expr.1 {
        ExprKind::Lit(crate::syntax::Lit::Int(..)) => Some(Scalar::I32),
        ExprKind::Lit(crate::syntax::Lit::Float(..)) => Some(Scalar::F64),
        ExprKind::Unary(_, inner) => tail_literal(inner),
        ExprKind::Binary(_, left, _) => tail_literal(left),
        ExprKind::Block(None, block) | ExprKind::If(_, block, Some(_)) => block.tail.and_then(tail_literal),
        ExprKind::Match(_, arms) => arms.iter().find_map(|arm| tail_literal(&arm.body)),
        _ => None,
    })
}
