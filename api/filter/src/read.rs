//! How conditions are written.

use std::fmt;
use std::str::FromStr;

use super::{Condition, Filter, Operator, Test, number};

/// The longer ones first, as a prefix of them is one, too. `!=` is `=`, negated.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("=", Operator::Equal),
    ("~", Operator::Contains),
    ("<", Operator::Less),
    (">", Operator::More),
];

/// Why a filter cannot be understood.
#[derive(Debug, PartialEq, Eq)]
pub struct FilterError(String);

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FilterError {}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let conditions = words(text)?.iter().map(|word| condition(word)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), conditions })
    }
}

/// Splits at spaces that do not stand in quotes.
fn words(text: &str) -> Result<Vec<String>, FilterError> {
    let (mut words, mut word, mut quoted, mut begun) = (Vec::new(), String::new(), false, false);
    for character in text.chars() {
        match character {
            '"' => (quoted, begun) = (!quoted, true),
            space if space.is_whitespace() && !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            other => {
                word.push(other);
                begun = true;
            }
        }
    }
    if quoted {
        return Err(FilterError("a quotation mark is not closed".to_owned()));
    }
    if begun {
        words.push(word);
    }
    Ok(words)
}

fn condition(word: &str) -> Result<Condition, FilterError> {
    let (negated, rest) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
    let name =
        rest.find(|it: char| !(it.is_ascii_alphanumeric() || "_.-".contains(it))).unwrap_or(rest.len());
    let (name, after) = rest.split_at(name);
    let (not, after) =
        after.strip_prefix('!').filter(|it| it.starts_with('=')).map_or((false, after), |it| (true, it));
    let operator = OPERATORS.iter().find(|(text, _)| after.starts_with(text)).filter(|_| !name.is_empty());
    let Some((text, operator)) = operator else {
        return Ok(Condition { negated, test: Test::Text(rest.to_lowercase()) });
    };
    let value = after.get(text.len()..).unwrap_or_default();
    let is_order = !matches!(operator, Operator::Equal | Operator::Contains);
    if is_order && number(value).is_none() {
        return Err(FilterError(format!("{word:?}: {value:?} is no number, such as 10 or 2.5M")));
    }
    let value = if *operator == Operator::Contains { value.to_lowercase() } else { value.to_owned() };
    let path = name.split('.').map(str::to_owned).collect();
    Ok(Condition { negated: negated != not, test: Test::Field { path, operator: *operator, value } })
}
