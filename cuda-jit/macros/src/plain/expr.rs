//! Expressions: operators by their precedence, and what they stand between.

use proc_macro2::{Delimiter, Span};
use syn::buffer::Cursor;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::punctuated::Punctuated;
use syn::{
    BinOp, Expr, ExprArray, ExprAssign, ExprBinary, ExprBreak, ExprCall, ExprCast, ExprContinue, ExprField, ExprIndex,
    ExprLet, ExprLit, ExprMethodCall, ExprParen, ExprPath, ExprRange, ExprReference, ExprRepeat, ExprReturn, ExprTuple,
    ExprUnary, Lit, LitBool, Member, Pat, Path, RangeLimits, Result, Token, UnOp, bracketed, parenthesized,
};

use super::block::with_block;
use super::pat::pattern;
use super::{beyond, character, commas, is_captured, joined, name, punct, take, ty, word};

/// What braces behind a path are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Braces {
    /// The fields of a struct.
    Struct,
    /// The block of a loop or branch.
    Block,
}

/// How tightly operators bind, from an assignment to `as`.
type Level = u8;

const ASSIGN: Level = 1;
const RANGE: Level = 2;
const OR: Level = 3;
const AND: Level = 4;
const COMPARE: Level = 5;
const BIT_OR: Level = 6;
const BIT_XOR: Level = 7;
const BIT_AND: Level = 8;
const SHIFT: Level = 9;
const SUM: Level = 10;
const PRODUCT: Level = 11;
const CAST: Level = 12;

/// What stands behind an operand.
enum Operator {
    Binary(BinOp),
    Assign(Token![=]),
    Range(RangeLimits),
    Cast(Token![as]),
}

/// An expression where a struct can stand.
pub(super) fn value(input: ParseStream<'_>) -> Result<Expr> {
    expr(input, Braces::Struct)
}

/// An expression.
pub(super) fn expr(input: ParseStream<'_>, braces: Braces) -> Result<Expr> {
    operators(input, braces, ASSIGN)
}

/// An operand and the operators behind it that bind at least so tightly.
fn operators(input: ParseStream<'_>, braces: Braces, least: Level) -> Result<Expr> {
    let mut left = unary(input, braces)?;
    // a range is nothing's operand
    while !matches!(left, Expr::Range(_)) {
        let next = take(input, |cursor| operator(cursor).filter(|((_, level), _)| *level >= least));
        let Some((operator, level)) = next else { break };
        let right = |least| operators(input, braces, least).map(Box::new);
        let (attrs, first) = (Vec::new(), Box::new(left));
        left = match operator {
            Operator::Binary(op) => {
                let right = right(if level == ASSIGN { ASSIGN } else { level + 1 })?;
                Expr::Binary(ExprBinary { attrs, left: first, op, right })
            }
            Operator::Assign(eq_token) => {
                Expr::Assign(ExprAssign { attrs, left: first, eq_token, right: right(ASSIGN)? })
            }
            Operator::Range(limits) => range(input, braces, Some(first), limits)?,
            Operator::Cast(as_token) => Expr::Cast(ExprCast { attrs, expr: first, as_token, ty: Box::new(ty(input)?) }),
        };
    }
    Ok(left)
}

/// The operator at a place and how tightly it binds.
fn operator(cursor: Cursor<'_>) -> Option<((Operator, Level), Cursor<'_>)> {
    let Some((mut last, mut rest)) = cursor.punct() else {
        let (ident, rest) = cursor.ident()?;
        return (ident == "as").then(|| ((Operator::Cast(Token![as](ident.span())), CAST), rest));
    };
    let (mut characters, mut spans, mut ends) = ([last.as_char(), ' ', ' '], [last.span(); 3], [rest; 3]);
    for place in 1..3 {
        let Some((next, behind)) = joined(&last, rest) else { break };
        (characters[place], spans[place], ends[place]) = (next.as_char(), next.span(), behind);
        (last, rest) = (next, behind);
    }
    let (operator, level, length) = named(characters, spans)?;
    Some(((operator, level), ends[length - 1]))
}

/// The operator of these characters, the longest that there is; its level and length.
fn named(characters: [char; 3], spans: [Span; 3]) -> Option<(Operator, Level, usize)> {
    let [one, two, _] = spans;
    let pair = [one, two];
    let (op, level, length) = match characters {
        ['<', '<', '='] => (BinOp::ShlAssign(Token![<<=](spans)), ASSIGN, 3),
        ['>', '>', '='] => (BinOp::ShrAssign(Token![>>=](spans)), ASSIGN, 3),
        ['.', '.', '.'] | ['=', '>', _] => return None,
        ['.', '.', '='] => return Some((Operator::Range(RangeLimits::Closed(Token![..=](spans))), RANGE, 3)),
        ['.', '.', _] => return Some((Operator::Range(RangeLimits::HalfOpen(Token![..](pair))), RANGE, 2)),
        ['+', '=', _] => (BinOp::AddAssign(Token![+=](pair)), ASSIGN, 2),
        ['-', '=', _] => (BinOp::SubAssign(Token![-=](pair)), ASSIGN, 2),
        ['*', '=', _] => (BinOp::MulAssign(Token![*=](pair)), ASSIGN, 2),
        ['/', '=', _] => (BinOp::DivAssign(Token![/=](pair)), ASSIGN, 2),
        ['%', '=', _] => (BinOp::RemAssign(Token![%=](pair)), ASSIGN, 2),
        ['^', '=', _] => (BinOp::BitXorAssign(Token![^=](pair)), ASSIGN, 2),
        ['&', '=', _] => (BinOp::BitAndAssign(Token![&=](pair)), ASSIGN, 2),
        ['|', '=', _] => (BinOp::BitOrAssign(Token![|=](pair)), ASSIGN, 2),
        ['&', '&', _] => (BinOp::And(Token![&&](pair)), AND, 2),
        ['|', '|', _] => (BinOp::Or(Token![||](pair)), OR, 2),
        ['<', '<', _] => (BinOp::Shl(Token![<<](pair)), SHIFT, 2),
        ['>', '>', _] => (BinOp::Shr(Token![>>](pair)), SHIFT, 2),
        ['=', '=', _] => (BinOp::Eq(Token![==](pair)), COMPARE, 2),
        ['!', '=', _] => (BinOp::Ne(Token![!=](pair)), COMPARE, 2),
        ['<', '=', _] => (BinOp::Le(Token![<=](pair)), COMPARE, 2),
        ['>', '=', _] => (BinOp::Ge(Token![>=](pair)), COMPARE, 2),
        ['=', ..] => return Some((Operator::Assign(Token![=](one)), ASSIGN, 1)),
        ['<', ..] => (BinOp::Lt(Token![<](one)), COMPARE, 1),
        ['>', ..] => (BinOp::Gt(Token![>](one)), COMPARE, 1),
        ['+', ..] => (BinOp::Add(Token![+](one)), SUM, 1),
        ['-', ..] => (BinOp::Sub(Token![-](one)), SUM, 1),
        ['*', ..] => (BinOp::Mul(Token![*](one)), PRODUCT, 1),
        ['/', ..] => (BinOp::Div(Token![/](one)), PRODUCT, 1),
        ['%', ..] => (BinOp::Rem(Token![%](one)), PRODUCT, 1),
        ['^', ..] => (BinOp::BitXor(Token![^](one)), BIT_XOR, 1),
        ['&', ..] => (BinOp::BitAnd(Token![&](one)), BIT_AND, 1),
        ['|', ..] => (BinOp::BitOr(Token![|](one)), BIT_OR, 1),
        _ => return None,
    };
    Some((Operator::Binary(op), level, length))
}

/// The rest of a range, whose end may be missing.
fn range(input: ParseStream<'_>, braces: Braces, start: Option<Box<Expr>>, limits: RangeLimits) -> Result<Expr> {
    let block = braces == Braces::Block && input.cursor().group(Delimiter::Brace).is_some();
    let end = match input.is_empty() || block {
        true => None,
        false => Some(Box::new(operators(input, braces, RANGE + 1)?)),
    };
    Ok(Expr::Range(ExprRange { attrs: Vec::new(), start, limits, end }))
}

/// An operand with the operators before it.
fn unary(input: ParseStream<'_>, braces: Braces) -> Result<Expr> {
    let attrs = Vec::new();
    if is_captured(input.cursor()) {
        return Err(beyond(input));
    }
    let op = match input.cursor().punct() {
        Some((punct, _)) => match punct.as_char() {
            '-' => UnOp::Neg(input.parse()?),
            '!' => UnOp::Not(input.parse()?),
            '*' => UnOp::Deref(input.parse()?),
            '&' => return reference(input, braces),
            _ => return signed(input, braces),
        },
        None => {
            let atom = atom(input, braces)?;
            return behind(input, atom);
        }
    };
    Ok(Expr::Unary(ExprUnary { attrs, op, expr: Box::new(unary(input, braces)?) }))
}

/// `&e`, `&mut e`
fn reference(input: ParseStream<'_>, braces: Braces) -> Result<Expr> {
    let and_token = input.parse()?;
    let mutability = match word(input).as_str() {
        "mut" => Some(input.parse()?),
        "raw" => return Err(beyond(input)),
        _ => None,
    };
    let expr = Box::new(unary(input, braces)?);
    Ok(Expr::Reference(ExprReference { attrs: Vec::new(), and_token, mutability, expr }))
}

/// What begins with punctuation and is no operator of one operand: a path, a range, a closure.
fn signed(input: ParseStream<'_>, braces: Braces) -> Result<Expr> {
    match character(input.cursor()) {
        Some('<' | ':') => {
            let path = path(input, braces)?;
            behind(input, path)
        }
        Some('.') => {
            let limits = input.parse()?;
            range(input, braces, None, limits)
        }
        Some('|') if braces == Braces::Struct => input.parse().map(Expr::Closure),
        Some('\'') => atom(input, braces),
        _ => Err(beyond(input)),
    }
}

/// What no operator takes apart.
fn atom(input: ParseStream<'_>, braces: Braces) -> Result<Expr> {
    let word = word(input);
    if let Some(expr) = with_block(input, &word)? {
        return Ok(expr);
    }
    if !word.is_empty() {
        return beginning_with(&word, input, braces);
    }
    if let Some(literal) = take(input, |cursor| cursor.literal()) {
        return Ok(Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::new(literal) }));
    }
    match input.cursor().any_group() {
        Some((_, Delimiter::Parenthesis, ..)) => tuple(input),
        Some((_, Delimiter::Bracket, ..)) => array(input),
        _ => Err(beyond(input)),
    }
}

/// What begins with a word: a jump, a `let`, a name.
fn beginning_with(word: &str, input: ParseStream<'_>, braces: Braces) -> Result<Expr> {
    let attrs = Vec::new();
    Ok(match word {
        "true" | "false" => {
            let ident = name(input)?;
            Expr::Lit(ExprLit { attrs, lit: Lit::Bool(LitBool { value: word == "true", span: ident.span() }) })
        }
        "return" => Expr::Return(ExprReturn { attrs, return_token: input.parse()?, expr: carried(input)? }),
        "break" => {
            let (break_token, label) = (input.parse()?, take(input, |cursor| cursor.lifetime()));
            Expr::Break(ExprBreak { attrs, break_token, label, expr: carried(input)? })
        }
        "continue" => {
            let (continue_token, label) = (input.parse()?, take(input, |cursor| cursor.lifetime()));
            Expr::Continue(ExprContinue { attrs, continue_token, label })
        }
        "let" => {
            let (let_token, pat) = (input.parse()?, Box::new(pattern(input, Pat::parse_multi_with_leading_vert)?));
            let (eq_token, expr) = (input.parse()?, Box::new(operators(input, braces, COMPARE)?));
            Expr::Let(ExprLet { attrs, let_token, pat, eq_token, expr })
        }
        "_" | "async" | "const" | "static" => return Err(beyond(input)),
        "move" if braces == Braces::Struct => Expr::Closure(input.parse()?),
        _ => return path(input, braces),
    })
}

/// The value of a jump, if it has one.
fn carried(input: ParseStream<'_>) -> Result<Option<Box<Expr>>> {
    match input.is_empty() || matches!(character(input.cursor()), Some(';' | ',')) {
        true => Ok(None),
        false => value(input).map(|value| Some(Box::new(value))),
    }
}

/// A path, or the macro or struct that it begins.
fn path(input: ParseStream<'_>, braces: Braces) -> Result<Expr> {
    let ahead = input.fork();
    let path: ExprPath = match ahead.cursor().ident() {
        Some((_, rest)) if character(rest) != Some(':') => {
            ExprPath { attrs: Vec::new(), qself: None, path: Path::from(name(&ahead)?) }
        }
        _ => ahead.parse()?,
    };
    if let Some((punct, rest)) = ahead.cursor().punct()
        && punct.as_char() == '!'
        && joined(&punct, rest).is_none_or(|(punct, _)| punct.as_char() != '=')
    {
        return input.parse().map(Expr::Macro);
    }
    if braces == Braces::Struct && ahead.cursor().group(Delimiter::Brace).is_some() {
        return input.parse().map(Expr::Struct);
    }
    input.advance_to(&ahead);
    Ok(Expr::Path(path))
}

/// What is behind an operand: calls, indices, fields, methods.
fn behind(input: ParseStream<'_>, mut expr: Expr) -> Result<Expr> {
    loop {
        let attrs = Vec::new();
        expr = match input.cursor().any_group() {
            Some((_, Delimiter::Parenthesis, ..)) => {
                let content;
                let (func, paren_token) = (Box::new(expr), parenthesized!(content in input));
                Expr::Call(ExprCall { attrs, func, paren_token, args: commas(&content, value)? })
            }
            Some((_, Delimiter::Bracket, ..)) => {
                let content;
                let (expr, bracket_token) = (Box::new(expr), bracketed!(content in input));
                Expr::Index(ExprIndex { attrs, expr, bracket_token, index: Box::new(value(&content)?) })
            }
            _ => match input.cursor().punct() {
                Some((punct, rest)) if punct.as_char() == '.' && joined(&punct, rest).is_none() => member(input, expr)?,
                Some((punct, _)) if punct.as_char() == '?' => return Err(beyond(input)),
                _ => return Ok(expr),
            },
        };
    }
}

/// A field or a method's call.
fn member(input: ParseStream<'_>, of: Expr) -> Result<Expr> {
    let (attrs, of, dot_token) = (Vec::new(), Box::new(of), input.parse()?);
    if input.cursor().literal().is_some() {
        let member: Member = input.parse()?;
        return Ok(Expr::Field(ExprField { attrs, base: of, dot_token, member }));
    }
    let method = name(input)?;
    if method == "await" || character(input.cursor()) == Some(':') {
        return Err(beyond(input));
    }
    if input.cursor().group(Delimiter::Parenthesis).is_none() {
        return Ok(Expr::Field(ExprField { attrs, base: of, dot_token, member: Member::Named(method) }));
    }
    let content;
    let paren_token = parenthesized!(content in input);
    let args = commas(&content, value)?;
    Ok(Expr::MethodCall(ExprMethodCall { attrs, receiver: of, dot_token, method, turbofish: None, paren_token, args }))
}

/// A tuple, or an expression in parentheses.
fn tuple(input: ParseStream<'_>) -> Result<Expr> {
    let content;
    let (attrs, paren_token) = (Vec::new(), parenthesized!(content in input));
    let mut elems = commas(&content, value)?;
    if elems.len() == 1 && !elems.trailing_punct() {
        let only = elems.pop().ok_or_else(|| beyond(input))?;
        return Ok(Expr::Paren(ExprParen { attrs, paren_token, expr: Box::new(only.into_value()) }));
    }
    Ok(Expr::Tuple(ExprTuple { attrs, paren_token, elems }))
}

/// `[a, b]` or `[e; n]`
fn array(input: ParseStream<'_>) -> Result<Expr> {
    let content;
    let (attrs, bracket_token) = (Vec::new(), bracketed!(content in input));
    let mut elems = Punctuated::new();
    if !content.is_empty() {
        let first = value(&content)?;
        if let Some(span) = punct(&content, ';') {
            let (expr, semi_token, len) = (Box::new(first), Token![;](span), Box::new(value(&content)?));
            return Ok(Expr::Repeat(ExprRepeat { attrs, bracket_token, expr, semi_token, len }));
        }
        elems.push_value(first);
        if let Some(span) = punct(&content, ',') {
            elems.push_punct(Token![,](span));
            elems.extend(commas(&content, value)?.into_pairs());
        }
    }
    Ok(Expr::Array(ExprArray { attrs, bracket_token, elems }))
}
