//! Blocks, statements, and the expressions that end with a block.

use proc_macro2::Delimiter;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{
    Arm, Block, Expr, ExprBlock, ExprForLoop, ExprIf, ExprLoop, ExprMacro, ExprMatch, ExprUnsafe, ExprWhile, Label,
    Local, LocalInit, MacroDelimiter, Pat, PatType, Result, Stmt, StmtMacro, Token, braced,
};

use super::expr::{Braces, expr, value};
use super::pat::pattern;
use super::{beyond, character, is_captured, keyword, punct, ty, word};

/// A block.
pub(super) fn block(input: ParseStream<'_>) -> Result<Block> {
    let content;
    let brace_token = braced!(content in input);
    let mut stmts = Vec::new();
    while !content.is_empty() {
        let ahead = content.fork();
        match statement(&ahead) {
            Ok(stmt) => {
                content.advance_to(&ahead);
                stmts.push(stmt);
            }
            Err(_) => by_syn(&content, &mut stmts)?,
        }
    }
    Ok(Block { brace_token, stmts })
}

/// The next statement as syn reads it, or all that are left if it does not stand by itself: a block's value does not.
fn by_syn(input: ParseStream<'_>, stmts: &mut Vec<Stmt>) -> Result<()> {
    let ahead = input.fork();
    match ahead.parse() {
        Ok(stmt) => {
            input.advance_to(&ahead);
            stmts.push(stmt);
        }
        Err(_) => stmts.extend(input.call(Block::parse_within)?),
    }
    Ok(())
}

fn statement(input: ParseStream<'_>) -> Result<Stmt> {
    if is_captured(input.cursor()) {
        return Err(beyond(input));
    }
    if let Some(span) = keyword(input, "let") {
        return Ok(Stmt::Local(local(input, Token![let](span))?));
    }
    let value = until_block(input)?;
    let semi_token = punct(input, ';').map(Token![;]);
    let is_macro = matches!(&value, Expr::Macro(of) if matches!(of.mac.delimiter, MacroDelimiter::Brace(_)));
    if is_macro || semi_token.is_none() && !input.is_empty() && !ends_with_block(&value) {
        return Err(beyond(input));
    }
    Ok(match value {
        Expr::Macro(ExprMacro { attrs, mac }) if semi_token.is_some() => {
            Stmt::Macro(StmtMacro { attrs, mac, semi_token })
        }
        value => Stmt::Expr(value, semi_token),
    })
}

fn local(input: ParseStream<'_>, let_token: Token![let]) -> Result<Local> {
    let mut pat = pattern(input, Pat::parse_single)?;
    if let Some(span) = punct(input, ':') {
        let ty = Box::new(ty(input)?);
        pat = Pat::Type(PatType { attrs: Vec::new(), pat: Box::new(pat), colon_token: Token![:](span), ty });
    }
    let init = match punct(input, '=') {
        Some(span) => Some(LocalInit { eq_token: Token![=](span), expr: Box::new(value(input)?), diverge: None }),
        None => None,
    };
    let semi_token = Token![;](punct(input, ';').ok_or_else(|| beyond(input))?);
    Ok(Local { attrs: Vec::new(), let_token, pat, init, semi_token })
}

/// An expression where a statement may stand: one that ends with a block goes no further than that.
fn until_block(input: ParseStream<'_>) -> Result<Expr> {
    match with_block(input, &word(input))? {
        Some(_) if matches!(character(input.cursor()), Some('.' | '?')) => Err(beyond(input)),
        Some(expr) => Ok(expr),
        None => value(input),
    }
}

fn ends_with_block(expr: &Expr) -> bool {
    use Expr::{Block, ForLoop, If, Loop, Match, Unsafe, While};
    matches!(expr, Block(_) | ForLoop(_) | If(_) | Loop(_) | Match(_) | Unsafe(_) | While(_))
}

/// An expression that ends with a block, if one begins here; the word is the next token, or empty.
pub(super) fn with_block(input: ParseStream<'_>, word: &str) -> Result<Option<Expr>> {
    if input.cursor().lifetime().is_some() {
        return labelled(input).map(Some);
    }
    let (attrs, label) = (Vec::new(), None);
    Ok(Some(match word {
        "if" => Expr::If(branch(input)?),
        "match" => Expr::Match(match_on(input)?),
        "for" => Expr::ForLoop(for_loop(input)?),
        "while" => {
            let (while_token, cond) = (input.parse()?, Box::new(expr(input, Braces::Block)?));
            Expr::While(ExprWhile { attrs, label, while_token, cond, body: block(input)? })
        }
        "loop" => Expr::Loop(ExprLoop { attrs, label, loop_token: input.parse()?, body: block(input)? }),
        "unsafe" => Expr::Unsafe(ExprUnsafe { attrs, unsafe_token: input.parse()?, block: block(input)? }),
        _ if input.cursor().group(Delimiter::Brace).is_some() => {
            Expr::Block(ExprBlock { attrs, label, block: block(input)? })
        }
        _ => return Ok(None),
    }))
}

/// A loop or block with a label.
fn labelled(input: ParseStream<'_>) -> Result<Expr> {
    let written: Label = input.parse()?;
    let mut expr = with_block(input, &word(input))?.ok_or_else(|| beyond(input))?;
    match &mut expr {
        Expr::Block(ExprBlock { label, .. })
        | Expr::ForLoop(ExprForLoop { label, .. })
        | Expr::Loop(ExprLoop { label, .. })
        | Expr::While(ExprWhile { label, .. }) => *label = Some(written),
        _ => return Err(beyond(input)),
    }
    Ok(expr)
}

fn branch(input: ParseStream<'_>) -> Result<ExprIf> {
    let (if_token, cond, then_branch) = (input.parse()?, Box::new(expr(input, Braces::Block)?), block(input)?);
    let else_branch = match keyword(input, "else") {
        Some(span) => {
            let otherwise = match word(input).as_str() {
                "if" => Expr::If(branch(input)?),
                _ => Expr::Block(ExprBlock { attrs: Vec::new(), label: None, block: block(input)? }),
            };
            Some((Token![else](span), Box::new(otherwise)))
        }
        None => None,
    };
    Ok(ExprIf { attrs: Vec::new(), if_token, cond, then_branch, else_branch })
}

fn for_loop(input: ParseStream<'_>) -> Result<ExprForLoop> {
    let (for_token, pat) = (input.parse()?, Box::new(pattern(input, Pat::parse_multi_with_leading_vert)?));
    let (in_token, expr) = (input.parse()?, Box::new(expr(input, Braces::Block)?));
    Ok(ExprForLoop { attrs: Vec::new(), label: None, for_token, pat, in_token, expr, body: block(input)? })
}

fn match_on(input: ParseStream<'_>) -> Result<ExprMatch> {
    let (match_token, expr) = (input.parse()?, Box::new(expr(input, Braces::Block)?));
    let content;
    let brace_token = braced!(content in input);
    let mut arms = Vec::new();
    while !content.is_empty() {
        arms.push(arm(&content)?);
    }
    Ok(ExprMatch { attrs: Vec::new(), match_token, expr, brace_token, arms })
}

fn arm(input: ParseStream<'_>) -> Result<Arm> {
    let pat = pattern(input, Pat::parse_multi_with_leading_vert)?;
    let guard = match keyword(input, "if") {
        Some(span) => Some((Token![if](span), Box::new(value(input)?))),
        None => None,
    };
    let fat_arrow_token = input.parse()?;
    let body = Box::new(until_block(input)?);
    let comma = punct(input, ',').map(Token![,]);
    if comma.is_none() && !input.is_empty() && !ends_with_block(&body) {
        return Err(beyond(input));
    }
    Ok(Arm { attrs: Vec::new(), pat, guard, fat_arrow_token, body, comma })
}
