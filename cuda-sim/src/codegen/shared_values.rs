//! Long computations in loops of values that are the same in all iterations: LLVM's vectoriser gets them in pieces.
//!
//! For an operation it asks whether its operands are the same for all elements of a vector; these ask for theirs, and no answer is
//! kept. Where each step of a computation uses the one before it twice, as `x ^= x << 13`, each step doubles the questions, so that
//! thirty steps on a value that all threads load take LLVM more than a minute. To a value about which there are too many questions a
//! zero is added that looks like another one in each iteration, in front, since LLVM asks for the operands in turn up to the first
//! that is not the same; once the loop is vectorised, LLVM knows that it is zero.

use super::loops::{Loop, innermost_of_all};
use cuda_llvm::inkwell::basic_block::BasicBlock;
use cuda_llvm::inkwell::builder::{Builder, BuilderError};
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::types::IntType;
use cuda_llvm::inkwell::values::{
    BasicValue, BasicValueEnum, FloatValue, InstructionOpcode, InstructionValue, IntValue, Operand, PhiValue,
};
use std::collections::HashMap;

/// The limit on the questions about one value.
const QUESTIONS: u64 = 1 << 10;

/// The questions about a value of a loop.
#[derive(Clone, Copy)]
struct Asked {
    count: u64,
    /// True if the answer is that all iterations have the same value.
    shared: bool,
}

impl Asked {
    /// A value of which LLVM knows the answer, or finds it at once.
    fn known(shared: bool) -> Asked {
        Asked { count: 1, shared }
    }

    /// A value about whose operands LLVM asks, up to the first one that is not shared.
    fn of(operands: impl Iterator<Item = Asked>) -> Asked {
        let mut asked = Asked::known(true);
        for operand in operands {
            asked.count = asked.count.saturating_add(operand.count);
            asked.shared = operand.shared;
            if !asked.shared {
                break;
            }
        }
        asked
    }
}

/// The values of a loop, as far as they are counted.
struct Questions<'a, 'c> {
    of: &'a Loop<'c>,
    asked: HashMap<InstructionValue<'c>, Asked>,
}

fn operands(inst: InstructionValue<'_>) -> impl Iterator<Item = BasicValueEnum<'_>> {
    inst.get_operands().flatten().filter_map(Operand::value)
}

/// Returns the condition of the branch at the end of a block.
fn condition(block: BasicBlock<'_>) -> Option<BasicValueEnum<'_>> {
    operands(block.get_terminator()?).next()
}

impl<'c> Questions<'_, 'c> {
    fn about(&self, value: BasicValueEnum<'c>) -> Asked {
        let inst = value.as_instruction_value();
        // What is computed in front of the loop is shared.
        inst.and_then(|inst| self.asked.get(&inst)).copied().unwrap_or(Asked::known(true))
    }

    fn count(&self, inst: InstructionValue<'c>) -> Asked {
        use InstructionOpcode::{Alloca, AtomicCmpXchg, AtomicRMW, Load, Phi};
        let about = |value| self.about(value);
        match inst.get_opcode() {
            Phi if inst.get_parent() == Some(self.of.header) => Asked::known(false),
            // It selects by the conditions that lead to it.
            Phi => {
                let incoming: Vec<_> = PhiValue::try_from(inst).into_iter().flat_map(PhiValue::get_incomings).collect();
                let conditions = incoming.iter().filter_map(|(_, from)| condition(*from));
                Asked::of(incoming.iter().map(|(value, _)| *value).chain(conditions).map(about))
            }
            Load => Asked::known(operands(inst).all(|address| about(address).shared)),
            Alloca | AtomicCmpXchg | AtomicRMW => Asked::known(false),
            _ => Asked::of(operands(inst).map(about)),
        }
    }
}

/// Returns the values of a loop about which there are too many questions, if those before them have got the zero.
fn found<'c>(context: &'c Context, of: &Loop<'c>) -> Vec<(InstructionValue<'c>, IntType<'c>)> {
    let mut questions = Questions { of, asked: HashMap::new() };
    let mut found = Vec::new();
    for inst in of.in_order().into_iter().flat_map(|block| block.get_instructions()) {
        let mut asked = questions.count(inst);
        if asked.count > QUESTIONS
            && let Some(ty) = integer(context, inst)
        {
            found.push((inst, ty));
            asked = Asked::known(false);
        }
        questions.asked.insert(inst, asked);
    }
    found
}

/// Returns the type of the integer as which a value gets the zero; `None` if it cannot.
fn integer<'c>(context: &'c Context, inst: InstructionValue<'c>) -> Option<IntType<'c>> {
    if inst.get_opcode() == InstructionOpcode::Phi {
        return None;
    }
    if let Ok(value) = IntValue::try_from(inst) {
        return Some(value.get_type()).filter(|ty| matches!(ty.get_bit_width(), 8 | 16 | 32 | 64));
    }
    match FloatValue::try_from(inst).ok()?.get_type().get_bit_width() {
        16 => Some(context.i16_type()),
        32 => Some(context.i32_type()),
        64 => Some(context.i64_type()),
        _ => None,
    }
}

/// A zero of a loop: the lowest bit of `i & (i + 1)`, where `i` is a value of the header that differs between iterations. If there is
/// none, LLVM cannot count the iterations, and does not vectorise the loop.
fn zero<'c>(builder: &Builder<'c>, header: BasicBlock<'c>) -> Result<Option<IntValue<'c>>, BuilderError> {
    let phis = header.get_instructions().take_while(|inst| inst.get_opcode() == InstructionOpcode::Phi);
    let Some(counter) = phis.into_iter().find_map(|phi| IntValue::try_from(phi).ok()) else { return Ok(None) };
    let after = header.get_instructions().find(|inst| inst.get_opcode() != InstructionOpcode::Phi);
    builder.position_before(&after.ok_or(BuilderError::UnsetPosition)?);
    let one = counter.get_type().const_int(1, false);
    let both = builder.build_and(counter, builder.build_int_add(counter, one, "")?, "")?;
    builder.build_and(both, one, "").map(Some)
}

/// Adds the loop's zero to values of it.
fn add_zeros<'c>(
    builder: &Builder<'c>,
    header: BasicBlock<'c>,
    values: Vec<(InstructionValue<'c>, IntType<'c>)>,
) -> Result<(), BuilderError> {
    let Some(zero) = zero(builder, header)? else { return Ok(()) };
    values.into_iter().try_for_each(|(inst, ty)| add_zero(builder, inst, ty, zero))
}

/// Adds a zero to a value, in front.
fn add_zero<'c>(
    builder: &Builder<'c>,
    inst: InstructionValue<'c>,
    ty: IntType<'c>,
    zero: IntValue<'c>,
) -> Result<(), BuilderError> {
    let next = inst.get_next_instruction().ok_or(BuilderError::UnsetPosition)?;
    builder.position_before(&next);
    let zero = builder.build_int_cast_sign_flag(zero, ty, false, "")?;
    // The users of the value get the sum, but the sum itself.
    let (first, last) = match (IntValue::try_from(inst), FloatValue::try_from(inst)) {
        (Ok(value), _) => {
            let sum = builder.build_or(zero, value, "")?;
            (sum.as_instruction_value(), sum.as_instruction_value())
        }
        (_, Ok(value)) => {
            let integer = builder.build_bit_cast(value, ty, "")?;
            let sum = builder.build_or(zero, integer.into_int_value(), "")?;
            let last = builder.build_bit_cast(sum, value.get_type(), "")?;
            (integer.as_instruction_value(), last.as_instruction_value())
        }
        _ => return Ok(()),
    };
    let (Some(first), Some(last)) = (first, last) else { return Ok(()) };
    inst.replace_all_uses_with(&last);
    match IntValue::try_from(inst) {
        Ok(value) => first.set_operand(1, value),
        Err(_) => FloatValue::try_from(inst).is_ok_and(|value| first.set_operand(0, value)),
    };
    Ok(())
}

/// Adds a zero to the values of loops that would take the vectoriser too many questions.
pub(super) fn divide<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), String> {
    let builder = context.create_builder();
    for function in module.get_functions().collect::<Vec<_>>() {
        for of in innermost_of_all(function) {
            let found = found(context, &of);
            if !found.is_empty() {
                add_zeros(&builder, of.header, found).map_err(|e| e.to_string())?;
            }
        }
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Divides a loop with this body, which may use `%i`, `%p` and the value `%v0` that is loaded from `%p`, and returns the number of
    /// values that get a zero.
    fn divided(body: &str) -> usize {
        let ir = format!(
            "define void @kernel(ptr %p, i32 %u) {{
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %done ]
  %v0 = load i32, ptr %p
  %f0 = load float, ptr %p
{body}
  br label %done
done:
  %next = add i32 %i, 1
  %left = icmp ult i32 %next, 100
  br i1 %left, label %head, label %end
end:
  ret void
}}
"
        );
        cuda_llvm::initialize().unwrap();
        let context = Context::create();
        let module = cuda_llvm::parse_ir(&context, &ir).unwrap();
        divide(&context, &module).unwrap();
        let text = module.print_to_string().to_string();
        assert!(module.verify().is_ok(), "{text}");
        text.matches("= or i").count()
    }

    /// Steps of which each uses the one before it twice.
    fn doubling(steps: usize, add: &str, ty: &str, first: &str) -> String {
        let value = |step: usize| if step == 0 { first.to_owned() } else { format!("%s{step}") };
        (0..steps).map(|step| format!("  %s{} = {add} {ty} {of}, {of}\n", step + 1, of = value(step))).collect()
    }

    #[test]
    fn each_value_of_a_thousand_questions_gets_a_zero() {
        assert_eq!(divided(&doubling(9, "mul", "i32", "%v0")), 0);
        // Every tenth step has 1,024 times the questions.
        assert_eq!(divided(&doubling(10, "mul", "i32", "%v0")), 1);
        assert_eq!(divided(&doubling(1000, "mul", "i32", "%v0")), 1, "what follows is not shared");
        assert_eq!(divided(&doubling(1000, "fmul", "float", "%f0")), 1);
    }

    #[test]
    fn conditions_are_asked_for_by_the_values_that_they_select() {
        let body: String = (0..20)
            .map(|n| {
                format!(
                    "  %c{n} = icmp eq i32 %v{n}, 7\n  br i1 %c{n}, label %yes{n}, label %no{n}\nyes{n}:\n  br label %no{n}\nno{n}:\n  \
                     %v{} = phi i32 [ %v{n}, %head{n} ], [ 5, %yes{n} ]\n  br label %head{}\nhead{}:\n",
                    n + 1, n + 1, n + 1,
                )
            })
            .collect();
        let body = format!("  br label %head0\nhead0:\n{body}  %sum = add i32 %v20, 1\n");
        assert_eq!(divided(&body), 1);
    }

    #[test]
    fn long_computations_without_doubling_stay() {
        let chain: String = (1..1000).map(|n| format!("  %v{n} = mul i32 %v{}, %u\n", n - 1)).collect();
        assert_eq!(divided(&chain), 1, "1,000 questions are too many");
        let chain: String = (1..500).map(|n| format!("  %v{n} = mul i32 %v{}, %u\n", n - 1)).collect();
        assert_eq!(divided(&chain), 0);
        // Each thread has its own.
        assert_eq!(divided(&doubling(1000, "mul", "i32", "%i")), 0);
    }

    #[test]
    fn values_from_in_front_of_the_loop_are_known() {
        assert_eq!(divided(&doubling(9, "mul", "i32", "%u")), 0);
        assert_eq!(divided(&doubling(9, "mul", "i32", "3")), 0);
    }
}
