//! As much JSON as the protocol needs. With `serde_json` at hand this file is not needed.
//!
//! Numbers are kept as they were written, so that what is repeated is repeated exactly.

use std::fmt::Write;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How deep lists and objects may be nested: a parser that recurses must not be driven off its stack.
const DEEPEST: usize = 200;

/// An object, written as its fields: `object([("kind", text("found"))])`.
pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

pub fn text(of: impl Into<String>) -> Json {
    Json::Text(of.into())
}

pub fn number(of: usize) -> Json {
    Json::Number(of.to_string())
}

pub fn texts<T: AsRef<str>>(of: &[T]) -> Json {
    Json::List(of.iter().map(|one| text(one.as_ref())).collect())
}

impl Json {
    /// The field of that name; null where there is none, and of what is no object.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.iter().find(|(key, _)| key == name).map_or(&Json::Null, |(_, value)| value),
            _ => &Json::Null,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Json::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        if let Json::Number(written) = self {
            written.parse().ok()
        } else {
            None
        }
    }

    pub fn as_count(&self) -> Option<usize> {
        if let Json::Number(written) = self {
            written.parse().ok()
        } else {
            None
        }
    }

    /// The members of a list; none of what is no list.
    pub fn members(&self) -> &[Json] {
        if let Json::List(members) = self {
            members
        } else {
            &[]
        }
    }

    /// On one line: line feeds within texts are escaped.
    pub fn write(&self) -> String {
        let mut out = String::new();
        self.write_to(&mut out);
        out
    }

    fn write_to(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(written) => out.push_str(written),
            Json::Text(text) => write_text(text, out),
            Json::List(members) => {
                out.push('[');
                for (place, member) in members.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    member.write_to(out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    value.write_to(out);
                }
                out.push('}');
            }
        }
    }

    pub fn parse(line: &[u8]) -> Result<Json, String> {
        let line = std::str::from_utf8(line).map_err(|error| format!("not UTF-8: {error}"))?;
        let mut parser = Parser { line, at: 0 };
        let value = parser.value(0)?;
        parser.space();
        if parser.at < line.len() {
            return Err(format!("something follows at byte {}", parser.at));
        }
        Ok(value)
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            // The control characters, and those that some readers take for ends of lines.
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", character as u32);
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

struct Parser<'a> {
    line: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, expected: &str) -> Result<(), String> {
        if !self.line.as_bytes()[self.at..].starts_with(expected.as_bytes()) {
            return Err(format!("{expected} expected at byte {}", self.at));
        }
        self.at += expected.len();
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEEPEST {
            return Err("nested too deep".to_string());
        }
        self.space();
        match self.peek() {
            Some(b'n') => self.take("null").map(|()| Json::Null),
            Some(b't') => self.take("true").map(|()| Json::Bool(true)),
            Some(b'f') => self.take("false").map(|()| Json::Bool(false)),
            Some(b'"') => self.text().map(Json::Text),
            Some(b'[') => {
                let mut members = Vec::new();
                self.each(b']', |parser| {
                    members.push(parser.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(Json::List(members))
            }
            Some(b'{') => {
                let mut fields = Vec::new();
                self.each(b'}', |parser| {
                    parser.space();
                    let name = parser.text()?;
                    parser.space();
                    parser.take(":")?;
                    fields.push((name, parser.value(depth + 1)?));
                    Ok(())
                })?;
                Ok(Json::Object(fields))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(format!("a value expected at byte {}", self.at)),
        }
    }

    /// What stands between the opening bracket, where the parser is, and the closing one, parted by commas.
    fn each(&mut self, close: u8, mut one: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            one(self)?;
            self.space();
            let found = self.peek();
            self.at += 1;
            match found {
                Some(b',') => {}
                Some(byte) if byte == close => return Ok(()),
                _ => return Err(format!("a comma or a closing bracket expected at byte {}", self.at - 1)),
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let written = &self.line[start..self.at];
        match written.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Json::Number(written.to_string())),
            _ => Err(format!("{written} is no number")),
        }
    }

    fn text(&mut self) -> Result<String, String> {
        self.take("\"")?;
        let mut out = String::new();
        loop {
            // All up to the next quotation mark, backslash or control character stands for itself.
            let rest = &self.line[self.at..];
            let end = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20).ok_or("a text does not end")?;
            out.push_str(&rest[..end]);
            self.at += end + 1;
            match rest.as_bytes()[end] {
                b'"' => return Ok(out),
                b'\\' => out.push(self.escape()?),
                _ => return Err(format!("a control character at byte {}", self.at - 1)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let escaped = self.peek().ok_or("a text does not end")?;
        self.at += 1;
        Ok(match escaped {
            b'"' | b'\\' | b'/' => escaped as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut unit = self.four()?;
                if (0xd800..0xdc00).contains(&unit) {
                    // A high surrogate is half of a character; the other half must follow.
                    self.take("\\u")?;
                    let low = self.four()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err("a lone surrogate".to_string());
                    }
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                }
                char::from_u32(unit).ok_or("a lone surrogate")?
            }
            _ => return Err(format!("no such escape at byte {}", self.at - 1)),
        })
    }

    fn four(&mut self) -> Result<u32, String> {
        let digits = self.line.as_bytes().get(self.at..self.at + 4).ok_or("an escape does not end")?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(format!("four hexadecimal digits expected at byte {}", self.at));
        }
        self.at += 4;
        let digits = std::str::from_utf8(digits).map_err(|error| error.to_string())?;
        u32::from_str_radix(digits, 16).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        let line = r#"{"a":[1,-2.50,true,null],"b":{},"c":"\"\\ \n \u2028 é 😀"}"#;
        assert_eq!(Json::parse(line.as_bytes()).map(|read| read.write()), Ok(line.to_string()));
        assert_eq!(Json::parse(br#""\ud83d\ude00\u00e9""#), Ok(text("😀é")));
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let deep = "[".repeat(100_000);
        for line in ["", "{", "[1,]", "{\"a\"}", "nul", "1 2", "\"\\ud800\"", "\"\t\"", "1e999", "-", &deep] {
            assert!(Json::parse(line.as_bytes()).is_err(), "{line:.20}");
        }
    }
}
