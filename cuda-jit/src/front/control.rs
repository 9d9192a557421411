//! Blocks, branches and loops.

use super::function::{Lowering, Result, Target};
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{BlockId, Scalar, SlotId, Terminator};
use crate::syntax::{Arm, Block, Condition, Expr, ExprKind, Pattern, Stmt};

/// Where the branches of an expression leave its value.
type Merge = (Ty, Vec<SlotId>);

impl Lowering<'_> {
    /// Lowers an expression that moves control.
    pub(super) fn control(&mut self, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let Expr(at, kind) = expr;
        match kind {
            ExprKind::Block(None, block) => self.block(block, expected),
            ExprKind::Block(Some(label), block) => self.labelled_block(*label, block, expected),
            ExprKind::If(condition, body, otherwise) => {
                let ty = self.merged_type(expr, expected);
                self.branch(condition, body, otherwise.as_ref().copied(), &ty)
            }
            ExprKind::Match(value, arms) => {
                let ty = self.merged_type(expr, expected);
                self.match_on(value, arms, &ty)
            }
            ExprKind::While(number, condition, body) => self.while_loop(*number, condition, body),
            ExprKind::Loop(number, body) => self.endless_loop(*number, body, expected),
            ExprKind::For(number, pattern, range, body) => self.for_loop(*number, pattern, range, body),
            ExprKind::Break(number, value) => self.leave(*number, value.as_ref().copied(), expected),
            ExprKind::Continue(number) => {
                let target = self.target(*number).and_then(|target| target.again);
                if let Some(block) = target {
                    self.build.end(Terminator::Jump(block));
                }
                Ok(self.never(expected.unwrap_or(&Ty::Unit)))
            }
            ExprKind::Return(value) => self.return_value(value.as_ref().copied(), expected),
            _ => Err(self.error(*at, "the front end does not know this expression; please report this")),
        }
    }

    /// Lowers a block; its value is that of its last expression.
    pub(super) fn block(&mut self, block: &'static Block, expected: Option<&Ty>) -> Result<Val> {
        for stmt in block.stmts {
            match stmt {
                Stmt::Expr(expr) => {
                    self.expr(expr, None)?;
                }
                Stmt::Closure(number, closure) => {
                    self.closures.insert(*number, closure);
                }
                Stmt::Let(pattern, Some(init)) => {
                    let ty = self.pattern_type(pattern).or_else(|| self.ty_of(init));
                    let value = self.expr(init, ty.as_ref())?;
                    let value = match &ty {
                        Some(ty) => self.expect(init.0, value, ty)?,
                        None => value,
                    };
                    self.bind(pattern, value)?;
                }
                Stmt::Let(pattern, None) => self.declare(pattern),
            }
        }
        match block.tail {
            Some(tail) => self.expr(tail, expected),
            None if self.build.ended() => Ok(self.never(expected.unwrap_or(&Ty::Unit))),
            None => Ok(Val::unit()),
        }
    }

    /// The type that a pattern's bindings give it, if they fix all of it.
    fn pattern_type(&self, pattern: &Pattern) -> Option<Ty> {
        match pattern {
            Pattern::Bind(number) => self.harvest.bindings[*number as usize].clone(),
            Pattern::Tuple(patterns) => {
                let types: Option<Vec<Ty>> = patterns.iter().map(|pattern| self.pattern_type(pattern)).collect();
                Some(Ty::Tuple(types?))
            }
            Pattern::Some(inner) => Some(Ty::Option(Box::new(self.pattern_type(inner)?))),
            _ => None,
        }
    }

    /// `let name;`
    fn declare(&mut self, pattern: &Pattern) {
        let Pattern::Bind(number) = pattern else { return };
        let Some(ty) = self.harvest.bindings[*number as usize].clone() else { return };
        let name = self.definition.bindings[*number as usize].name;
        let borrowed = self.definition.bindings[*number as usize].borrowed;
        let local = match ty {
            Ty::Scalar(scalar) if borrowed => {
                super::function::Local::Cell(self.new_array(name, scalar, vec![1]).only(), scalar)
            }
            Ty::Owned(scalar, extents) => super::function::Local::Fixed(self.new_array(name, scalar, extents)),
            ty => super::function::Local::Slots(ty.clone(), self.slots(name, &ty)),
        };
        self.locals.insert(*number, local);
    }

    /// The type of an expression with branches.
    fn merged_type(&self, expr: &Expr, expected: Option<&Ty>) -> Ty {
        expected.cloned().or_else(|| self.ty_of(expr)).unwrap_or_else(|| match tail_literal(expr) {
            Some(fallback) => Ty::Scalar(fallback),
            None => Ty::Unit,
        })
    }

    /// Leaves a branch's value where the branches meet and goes there.
    fn arrive(&mut self, value: &Val, merge: &Merge, exit: BlockId) {
        if !self.build.ended() {
            self.set(&merge.1, &value.leaves);
            self.build.end(Terminator::Jump(exit));
        }
    }

    fn merge(&mut self, name: &str, ty: &Ty) -> Merge {
        (ty.clone(), self.slots(name, ty))
    }

    fn branch(
        &mut self,
        condition: &'static Condition,
        body: &'static Block,
        otherwise: Option<&'static Expr>,
        ty: &Ty,
    ) -> Result<Val> {
        let (fail, exit) = (self.build.block(), self.build.block());
        let merge = self.merge("if", ty);
        self.condition(condition, fail)?;
        let value = self.block(body, Some(ty))?;
        self.arrive(&value, &merge, exit);
        self.build.select_block(fail);
        if let Some(otherwise) = otherwise {
            let value = self.expr(otherwise, Some(ty))?;
            self.arrive(&value, &merge, exit);
        } else {
            self.build.end(Terminator::Jump(exit));
        }
        self.build.select_block(exit);
        Ok(self.get(&merge.0, &merge.1))
    }

    /// Goes on where the condition holds, with its names bound, elsewhere in `fail`.
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
                let ty = self.ty_of(value).or_else(|| self.pattern_type(pattern));
                let value = self.expr(value, ty.as_ref())?;
                self.test(pattern, &value, fail)?;
                self.bind(pattern, value)
            }
        }
    }

    fn match_on(&mut self, value: &'static Expr, arms: &'static [Arm], ty: &Ty) -> Result<Val> {
        let own = self.ty_of(value).or_else(|| arms.iter().find_map(|arm| self.pattern_type(&arm.pattern)));
        let value = self.expr(value, own.as_ref())?;
        let exit = self.build.block();
        let merge = self.merge("match", ty);
        let last = arms.len().saturating_sub(1);
        for (index, arm) in arms.iter().enumerate() {
            let next = self.build.block();
            // rustc has checked that the arms are exhaustive, so the last one needs no test
            if index != last || arm.guard.is_some() {
                self.test(&arm.pattern, &value, next)?;
            }
            self.bind(&arm.pattern, value.clone())?;
            if let Some(guard) = &arm.guard {
                let guard = self.scalar(guard, Scalar::Bool)?;
                let body = self.build.block();
                self.build.end(Terminator::Branch(guard, body, next));
                self.build.select_block(body);
            }
            let result = self.expr(&arm.body, Some(ty))?;
            self.arrive(&result, &merge, exit);
            self.build.select_block(next);
        }
        self.build.end(Terminator::Jump(exit));
        self.build.select_block(exit);
        Ok(self.get(&merge.0, &merge.1))
    }

    fn labelled_block(&mut self, number: u32, block: &'static Block, expected: Option<&Ty>) -> Result<Val> {
        let ty = expected.cloned().unwrap_or(Ty::Unit);
        let exit = self.build.block();
        let merge = self.merge("block", &ty);
        self.targets.push(Target { number, exit, again: None, result: Some(merge.clone()) });
        let value = self.block(block, Some(&ty))?;
        self.targets.pop();
        self.arrive(&value, &merge, exit);
        self.build.select_block(exit);
        Ok(self.get(&merge.0, &merge.1))
    }

    fn while_loop(&mut self, number: u32, condition: &'static Condition, body: &'static Block) -> Result<Val> {
        let (header, exit) = (self.build.block(), self.build.block());
        self.jump_into(header);
        self.condition(condition, exit)?;
        self.targets.push(Target { number, exit, again: Some(header), result: None });
        self.block(body, None)?;
        self.targets.pop();
        self.build.end(Terminator::Jump(header));
        self.build.select_block(exit);
        Ok(Val::unit())
    }

    fn endless_loop(&mut self, number: u32, body: &'static Block, expected: Option<&Ty>) -> Result<Val> {
        let ty = expected.cloned().unwrap_or(Ty::Unit);
        let (header, exit) = (self.build.block(), self.build.block());
        let merge = self.merge("loop", &ty);
        self.jump_into(header);
        self.targets.push(Target { number, exit, again: Some(header), result: Some(merge.clone()) });
        self.block(body, None)?;
        self.targets.pop();
        self.build.end(Terminator::Jump(header));
        self.build.select_block(exit);
        Ok(self.get(&merge.0, &merge.1))
    }

    fn target(&self, number: u32) -> Option<Target> {
        self.targets.iter().rev().find(|target| target.number == number).cloned()
    }

    fn leave(&mut self, number: u32, value: Option<&'static Expr>, expected: Option<&Ty>) -> Result<Val> {
        if let Some(target) = self.target(number) {
            if let (Some(value), Some((ty, slots))) = (value, &target.result) {
                let value = self.expr(value, Some(ty))?;
                self.set(slots, &value.leaves);
            }
            self.build.end(Terminator::Jump(target.exit));
        }
        Ok(self.never(expected.unwrap_or(&Ty::Unit)))
    }

    fn return_value(&mut self, value: Option<&'static Expr>, expected: Option<&Ty>) -> Result<Val> {
        if let Some(inlined) = self.inlined.last().cloned() {
            if let Some(value) = value {
                let value = self.expr(value, Some(&inlined.result.0))?;
                self.set(&inlined.result.1, &value.leaves);
            }
            self.build.end(Terminator::Jump(inlined.exit));
        } else {
            let ty = self.harvest.result.clone();
            let value = value.map(|value| self.expr(value, Some(&ty))).transpose()?;
            let value = value.and_then(|value| value.leaves.first().copied());
            self.build.end(Terminator::Return(value));
        }
        Ok(self.never(expected.unwrap_or(&Ty::Unit)))
    }
}

/// Whether a statement never lets control past it, as far as its form shows.
pub(super) fn diverges(stmt: &Stmt) -> bool {
    let Stmt::Expr(expr) = stmt else { return false };
    matches!(expr.1, ExprKind::Return(_) | ExprKind::Break(..) | ExprKind::Continue(_) | ExprKind::Panic(_))
}

/// Rust's fallback for an expression whose branches are bare literals.
fn tail_literal(expr: &Expr) -> Option<Scalar> {
    match &expr.1 {
        ExprKind::Lit(crate::syntax::Lit::Int(..)) => Some(Scalar::I32),
        ExprKind::Lit(crate::syntax::Lit::Float(..)) => Some(Scalar::F64),
        ExprKind::Unary(_, inner) => tail_literal(inner),
        ExprKind::Binary(_, left, _) => tail_literal(left),
        ExprKind::Block(None, block) | ExprKind::If(_, block, Some(_)) => block.tail.and_then(tail_literal),
        ExprKind::Match(_, arms) => arms.iter().find_map(|arm| tail_literal(&arm.body)),
        _ => None,
    }
}
