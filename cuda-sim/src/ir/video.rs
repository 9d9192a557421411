//! Subword selectors and opcode families of video instructions. Lowering parses the selectors; the code generator gets
//! them as numbers.

use crate::ptx::Opcode;

/// The operation, on whole values or on each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Video {
    Add,
    Sub,
    AbsDiff,
    Min,
    Max,
    Average,
    Set,
    Shl,
    Shr,
    Mad,
}

/// Returns the operation of a video instruction and its number of lanes: 1, 2 or 4.
pub(crate) fn video(opcode: Opcode) -> Option<(Video, u32)> {
    use Opcode::*;
    Some(match opcode {
        Vadd => (Video::Add, 1),
        Vadd2 => (Video::Add, 2),
        Vadd4 => (Video::Add, 4),
        Vsub => (Video::Sub, 1),
        Vsub2 => (Video::Sub, 2),
        Vsub4 => (Video::Sub, 4),
        Vabsdiff => (Video::AbsDiff, 1),
        Vabsdiff2 => (Video::AbsDiff, 2),
        Vabsdiff4 => (Video::AbsDiff, 4),
        Vmin => (Video::Min, 1),
        Vmin2 => (Video::Min, 2),
        Vmin4 => (Video::Min, 4),
        Vmax => (Video::Max, 1),
        Vmax2 => (Video::Max, 2),
        Vmax4 => (Video::Max, 4),
        Vavrg2 => (Video::Average, 2),
        Vavrg4 => (Video::Average, 4),
        Vset => (Video::Set, 1),
        Vset2 => (Video::Set, 2),
        Vset4 => (Video::Set, 4),
        Vshl => (Video::Shl, 1),
        Vshr => (Video::Shr, 1),
        Vmad => (Video::Mad, 1),
        _ => return None,
    })
}

/// A subword: some bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subword {
    pub(crate) offset: u32,
    pub(crate) bits: u32,
}

impl Subword {
    pub(crate) const WHOLE: Subword = Subword { offset: 0, bits: 32 };

    /// Returns the subword that `b0` to `b3`, `h0` or `h1` names.
    pub(crate) fn named(selector: &str) -> Option<Subword> {
        let (bits, count) = unit(selector)?;
        let index = selector[1..].parse::<u32>().ok().filter(|index| selector.len() == 2 && *index < count)?;
        Some(Subword { offset: index * bits, bits })
    }

    pub(crate) fn code(self) -> i128 {
        i128::from(self.bits << 8 | self.offset)
    }

    pub(crate) fn of_code(code: i128) -> Subword {
        Subword { offset: code as u32 & 0xff, bits: code as u32 >> 8 }
    }
}

/// Returns the bits of the unit that a selector counts, and the number of units in a register.
fn unit(selector: &str) -> Option<(u32, u32)> {
    match selector.as_bytes().first()? {
        b'b' => Some((8, 4)),
        b'h' => Some((16, 2)),
        _ => None,
    }
}

/// Returns the lanes that a selector names, the last one first: 2 and 3 for `h32`, out of registers with `total` lanes.
pub(crate) fn lanes(selector: &str, lanes: u32, total: u32) -> Option<Vec<u32>> {
    let (_, count) = unit(selector)?;
    let digit = |byte: &u8| char::from(*byte).to_digit(10).filter(|lane| *lane < total);
    let all = selector.as_bytes()[1..].iter().rev().map(digit).collect::<Option<Vec<_>>>()?;
    (count == lanes && !all.is_empty()).then_some(all)
}

/// Encodes lanes as 4-bit digits.
pub(crate) fn lane_code(lanes: &[u32]) -> i128 {
    lanes.iter().enumerate().map(|(i, lane)| i128::from(*lane) << (4 * i)).sum()
}
