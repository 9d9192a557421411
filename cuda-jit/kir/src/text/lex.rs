//! The lexer of KIR text: tokens with their positions. It knows no keywords.

use std::iter::Peekable;
use std::str::Chars;

use super::ParseError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// An identifier or keyword, which may contain `.`.
    Word(String),
    /// A number as written.
    Number(String),
    /// A string, unescaped.
    Text(String),
    /// One of `( ) { } : , =`, or `>` for an arrow.
    Sign(char),
    /// The end of the text.
    End,
}

impl Token {
    /// The token in an error message.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(text) | Token::Number(text) => format!("`{text}`"),
            Token::Text(text) => format!("the string {text:?}"),
            Token::Sign('>') => "`->`".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// A token and its start position.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// The tokens of `text`, the last of which is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, ParseError> {
    let mut lexer = Lexer { chars: text.chars().peekable(), line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token().map_err(|message| ParseError { line, column, message })?;
        let last = token == Token::End;
        tokens.push(Spanned { token, line, column });
        if last {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    chars: Peekable<Chars<'a>>,
    line: u32,
    column: u32,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn next_if(&mut self, test: impl Fn(char) -> bool) -> Option<char> {
        let c = *self.chars.peek()?;
        if test(c) { self.next() } else { None }
    }

    fn skip_blank(&mut self) {
        while let Some(&c) = self.chars.peek() {
            if c == ';' {
                while self.next_if(|c| c != '\n').is_some() {}
            } else if !c.is_whitespace() {
                return;
            } else {
                self.next();
            }
        }
    }

    fn token(&mut self) -> Result<Token, String> {
        let Some(c) = self.next() else { return Ok(Token::End) };
        match c {
            '(' | ')' | '{' | '}' | ':' | ',' | '=' => Ok(Token::Sign(c)),
            '"' => self.text(),
            '-' if self.next_if(|c| c == '>').is_some() => Ok(Token::Sign('>')),
            '-' | '0'..='9' => Ok(self.number(c)),
            c if c.is_ascii_alphabetic() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = self.next_if(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
                    word.push(c);
                }
                Ok(Token::Word(word))
            }
            c => Err(format!("no token begins with {c:?}")),
        }
    }

    fn number(&mut self, first: char) -> Token {
        let mut number = String::from(first);
        loop {
            let exponent = number.ends_with('e') && !number.starts_with("0x");
            match self.next_if(|c| c.is_ascii_alphanumeric() || c == '.' || (exponent && c == '-')) {
                Some(c) => number.push(c),
                None => return Token::Number(number),
            }
        }
    }

    fn text(&mut self) -> Result<Token, String> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err("this string has no closing `\"`".to_owned()),
                Some('"') => return Ok(Token::Text(text)),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        match self.next() {
            Some('n') => Ok('\n'),
            Some(c @ ('"' | '\\')) => Ok(c),
            Some('u') if self.next_if(|c| c == '{').is_some() => {
                let mut digits = String::new();
                while let Some(c) = self.next_if(|c| c.is_ascii_hexdigit()) {
                    digits.push(c);
                }
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                match (code, self.next()) {
                    (Some(c), Some('}')) => Ok(c),
                    _ => Err(format!("this string holds `\\u{{{digits}`, which is no character")),
                }
            }
            _ => Err(r#"after `\` in a string comes `n`, `"`, `\` or `u{..}`"#.to_owned()),
        }
    }
}
