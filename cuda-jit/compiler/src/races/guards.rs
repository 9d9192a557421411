//! Upper bounds of values by the conditions at an access: `row * width + col` is less than `height * width` where
//! `row < height` and `col < width`.
//!
//! A condition is a polynomial `f >= 0`. If `m` is not negative, `value <= value + m * f`, which is a bound if all that
//! varies from thread to thread cancels. Like all facts, it holds only at the access, where the value is used.

use super::graph::Kind;
use super::poly::{Monomial, Poly, Side, Var, without};
use super::symbols::{Context, Meaning, Symbols};

/// The number of conditions of which multiples are added.
const STEPS: usize = 8;

impl Symbols<'_> {
    /// An upper bound of a value over parameters and dimensions, all of whose coefficients are positive.
    pub(super) fn guarded(&mut self, context: &mut Context, value: &Poly) -> Option<Poly> {
        let mut bound = value.clone();
        for _ in 0..STEPS {
            let Some(next) = self.less_varying(context, &bound) else { break };
            bound = next;
        }
        if bound == *value {
            return None;
        }
        let mut upper = Poly::default();
        for (monomial, coefficient) in &bound.0 {
            if !monomial.iter().all(|var| self.is_not_negative(context, *var)) {
                return None;
            }
            if *coefficient > 0 {
                let mut term = Poly::constant(*coefficient);
                for var in monomial {
                    let factor =
                        if self.is_parameter(*var) { Poly::var(*var) } else { self.upper(&Poly::var(*var), 8)? };
                    term = term.times(&factor)?;
                }
                upper = upper.plus(&term, 1)?;
            }
        }
        Some(upper)
    }

    /// The value and a multiple of a condition, of which fewer terms vary.
    fn less_varying(&mut self, context: &mut Context, value: &Poly) -> Option<Poly> {
        let count = |poly: &Poly| poly.0.keys().filter(|monomial| varies(monomial)).count();
        for fact in context.facts.positive.clone() {
            for (lead, factor) in fact.0.iter().filter(|(monomial, factor)| varies(monomial) && **factor < 0) {
                for (term, coefficient) in value.0.iter().filter(|(_, coefficient)| **coefficient > 0) {
                    let Some(rest) = without(term, lead).filter(|rest| !varies(rest) && coefficient % factor == 0)
                    else {
                        continue;
                    };
                    let sum = Poly([(rest.clone(), -coefficient / factor)].into())
                        .times(&fact)
                        .and_then(|multiple| value.plus(&multiple, 1));
                    if let Some(sum) = sum.filter(|sum| count(sum) < count(value))
                        && rest.iter().all(|var| self.is_not_negative(context, *var))
                    {
                        return Some(sum);
                    }
                }
            }
        }
        None
    }

    /// Returns true if a symbol is not negative at the access.
    pub(super) fn is_not_negative(&mut self, context: &mut Context, var: Var) -> bool {
        self.lowest(var) >= 0 || self.proves(context, &Poly::var(var))
    }

    fn is_parameter(&self, var: Var) -> bool {
        matches!(self.meaning(var), Meaning::Node(node) if matches!(self.graph.nodes[*node].kind, Kind::Param(_)))
    }
}

/// Returns true if a product may differ from thread to thread.
fn varies(monomial: &Monomial) -> bool {
    monomial.iter().any(|var| var.side != Side::Both)
}
