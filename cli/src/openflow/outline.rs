//! Serialised values as indented text for people.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// The value as indented lines `key: value`, for people.
///
/// Numbers and texts of a list share one line; other items have lines of their own, with a dash.
pub(super) fn outline(value: &impl Serialize) -> serde_json::Result<String> {
    let mut out = Vec::new();
    let outline = Outline { indent: 0, place: Place::Start };
    value.serialize(&mut Serializer::with_formatter(&mut out, outline))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A serialiser that writes JSON values without JSON's punctuation.
struct Outline {
    indent: usize,
    place: Place,
}

/// The position of the next value or key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    AfterKey,
    FirstItem,
    Item,
    AfterDash,
}

impl Outline {
    fn new_line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        write!(out, "\n{:1$}", "", self.indent * 2)
    }

    fn begin_scalar<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        match std::mem::replace(&mut self.place, Place::Start) {
            Place::Start | Place::AfterDash => Ok(()),
            Place::AfterKey | Place::FirstItem => out.write_all(b" "),
            Place::Item => out.write_all(b", "),
        }
    }

    fn begin_nested<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if matches!(self.place, Place::FirstItem | Place::Item) {
            self.new_line(out)?;
            out.write_all(b"- ")?;
            self.place = Place::AfterDash;
        }
        self.indent += 1;
        Ok(())
    }

    fn end_nested(&mut self) {
        self.indent -= 1;
        self.place = Place::Start;
    }
}

macro_rules! scalars {
    ($($write:ident($($type:ty)?),)*) => {
        $(fn $write<W: ?Sized + Write>(&mut self, out: &mut W $(, value: $type)?) -> io::Result<()> {
            self.begin_scalar(out)?;
            CompactFormatter.$write(out $(, value as $type)?)
        })*
    };
}

impl Formatter for Outline {
    scalars! {
        write_null(), write_bool(bool), write_u8(u8), write_u16(u16), write_u32(u32), write_u64(u64),
        write_i8(i8), write_i16(i16), write_i32(i32), write_i64(i64), write_f32(f32), write_f64(f64),
    }

    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin_scalar(out)
    }

    fn end_string<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::Quote => out.write_all(b"\""),
            CharEscape::ReverseSolidus => out.write_all(b"\\"),
            // Control characters stay escaped, since they could move a terminal's cursor.
            escape => CompactFormatter.write_char_escape(out, escape),
        }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin_nested(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end_nested();
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, _: bool) -> io::Result<()> {
        if self.place != Place::AfterDash {
            self.new_line(out)?;
        }
        self.place = Place::Start;
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.place = Place::AfterKey;
        out.write_all(b":")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin_nested(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end_nested();
        Ok(())
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        self.place = if first { Place::FirstItem } else { Place::Item };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_objects_nest() {
        let value = serde_json::json!({
            "a": [{ "b": 1, "c": ["x\"y", "z"] }, { "d": { "e": 2, "f": [] } }],
            "g": { "h": "i\u{1b}", "j": [{ "k": null }] },
            "l": true,
        });
        let lines = "
  a:
    - b: 1
      c: x\"y, z
    - d:
        e: 2
        f:
  g:
    h: i\\u001b
    j:
      - k: null
  l: true";
        assert_eq!(outline(&value).unwrap(), lines);
    }
}
