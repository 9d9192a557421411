//! Negates 16-bit numbers by a product, `mul.lo.s16 y, x, -1`.
//!
//! LLVM prints `neg.s16` and `abs.s16`. When ptxas extends their results to 32 bits or compares them, it takes the 32-bit negation of
//! the extended operand, so that the negation of -32768 becomes 32768; it does the same with `sub.s16 y, 0, x`. Seen in the code of
//! ptxas 13.0 for all architectures, and in the results of a GPU. It wraps products as their type says.
//!
//! The text is changed, since LLVM's code generator also makes 16-bit negations of wider ones that are truncated.

use std::fmt::Write as _;

/// Rewrites the negations and absolute values of 16 bits in PTX that LLVM printed.
pub(super) fn as_products(ptx: String) -> String {
    if !(ptx.contains("neg.s16") || ptx.contains("abs.s16")) {
        return ptx;
    }
    let mut out = String::with_capacity(ptx.len() + ptx.len() / 16);
    for line in ptx.split_inclusive('\n') {
        let written = match operands(line) {
            Some(("neg.s16", [to, from])) => writeln!(out, "\tmul.lo.s16 \t{to}, {from}, -1;"),
            Some(("abs.s16", [to, from])) => writeln!(
                out,
                "\t{{ .reg .b16 %negated; mul.lo.s16 %negated, {from}, -1; max.s16 {to}, {from}, %negated; }}"
            ),
            _ => out.write_str(line),
        };
        written.expect("a string takes any text");
    }
    out
}

/// The opcode and the two operands of a line such as `\tneg.s16 \t%rs2, %rs1;\n`.
fn operands(line: &str) -> Option<(&str, [&str; 2])> {
    let (opcode, rest) = line.trim().strip_suffix(';')?.split_once(char::is_whitespace)?;
    let (to, from) = rest.split_once(',')?;
    Some((opcode, [to.trim(), from.trim()]))
}

#[cfg(test)]
mod tests {
    use super::as_products;

    #[test]
    fn only_16_bits_are_rewritten() {
        let text = "\tneg.s16 \t%rs2, %rs1;\n\tneg.s32 \t%r2, %r1;\n\tabs.s16 \t%rs3, %rs2;\n\tret;";
        let expected = "\tmul.lo.s16 \t%rs2, %rs1, -1;\n\tneg.s32 \t%r2, %r1;\n\
                        \t{ .reg .b16 %negated; mul.lo.s16 %negated, %rs2, -1; max.s16 %rs3, %rs2, %negated; }\n\tret;";
        assert_eq!(as_products(text.to_owned()), expected);
        let text = "\tadd.s16 \t%rs2, %rs1, 1;\n";
        assert_eq!(as_products(text.to_owned()), text);
    }
}
