//! Bytes from hexadecimal digits with any common separators.

/// Errors of parsing hexadecimal digits.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HexError {
    /// A character is neither a digit nor a separator.
    #[error("{character:?} at character {at} is not a hexadecimal digit")]
    Character {
        /// The character.
        character: char,
        /// Its position, from 1.
        at: usize,
    },
    /// A group has an odd number of digits.
    #[error("the {digits} digits that end at character {at} are not whole bytes")]
    Odd {
        /// The number of its digits.
        digits: usize,
        /// The position of its last digit, from 1.
        at: usize,
    },
    /// There are no digits.
    #[error("there is nothing to decode")]
    Empty,
}

/// Parses the digits of `text`, which white space, `:`, `,` or `0x` may separate.
pub(crate) fn parse(text: &str) -> Result<Vec<u8>, HexError> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut position = 0;
    for group in text.split(is_separator) {
        parse_group(group, position, &mut bytes)?;
        position += group.chars().count() + 1;
    }
    if bytes.is_empty() { Err(HexError::Empty) } else { Ok(bytes) }
}

/// Parses one group of digits after `position` characters.
fn parse_group(group: &str, position: usize, bytes: &mut Vec<u8>) -> Result<(), HexError> {
    let digits = group.strip_prefix("0x").or_else(|| group.strip_prefix("0X")).unwrap_or(group);
    let position = position + group.len() - digits.len();
    let mut high = None;
    for (index, character) in digits.chars().enumerate() {
        let digit = character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let digit = digit.ok_or(HexError::Character { character, at: position + index + 1 })?;
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push(high << 4 | digit),
        }
    }
    let odd = HexError::Odd { digits: digits.len(), at: position + digits.len() };
    if high.is_some() { Err(odd) } else { Ok(()) }
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || matches!(character, ':' | ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_in_every_usual_form() {
        for text in [
            "0400000800000007",
            "04:00:00:08:00:00:00:07",
            "0x04000008 0x00000007",
            "04 00 00 08\n00,00,00,07\n",
        ] {
            assert_eq!(parse(text), Ok(vec![4, 0, 0, 8, 0, 0, 0, 7]), "{text}");
        }
    }

    #[test]
    fn error_names_the_character() {
        assert_eq!(parse("04 0g"), Err(HexError::Character { character: 'g', at: 5 }));
        assert_eq!(parse("0x04 00x0"), Err(HexError::Character { character: 'x', at: 8 }));
        assert_eq!(parse("04é0"), Err(HexError::Character { character: 'é', at: 3 }));
    }

    #[test]
    fn half_bytes_are_refused_instead_of_being_joined() {
        assert_eq!(parse("4 0 0 8"), Err(HexError::Odd { digits: 1, at: 1 }));
        assert_eq!(parse("04 0x000"), Err(HexError::Odd { digits: 3, at: 8 }));
    }

    #[test]
    fn text_without_a_digit_is_refused() {
        for text in ["", " \n", "0x"] {
            assert_eq!(parse(text), Err(HexError::Empty), "{text:?}");
        }
    }
}
