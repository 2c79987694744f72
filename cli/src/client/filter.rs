//! Filters of lists. The page has the same language (`web/src/domain/filter.ts`), and both pass the same cases
//! (`web/tests/filter.json`).

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// Conditions that all have to hold: `kind=mptcp sent_bps>10M -path=3 "10.0.0.1"`.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Filter(Vec<Condition>);

#[derive(Clone, PartialEq, Debug)]
struct Condition {
    negated: bool,
    test: Test,
}

#[derive(Clone, PartialEq, Debug)]
enum Test {
    /// The text stands in any value.
    Text(String),
    /// A value of the field compares so; of a field that is a list, any.
    Field { path: Vec<String>, operator: Operator, value: String },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Equal,
    Contains,
    Less,
    More,
    AtMost,
    AtLeast,
}

/// The longer ones first, as a prefix of them is one, too. `!=` is `=`, negated.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("=", Operator::Equal),
    ("~", Operator::Contains),
    ("<", Operator::Less),
    (">", Operator::More),
];

impl Filter {
    /// Whether the item is shown.
    pub(crate) fn fits(&self, item: &Value) -> bool {
        self.0.iter().all(|condition| condition.test.holds(item) != condition.negated)
    }

    /// Keeps of a list what is shown.
    pub(super) fn apply(&self, list: Option<&mut Value>) {
        if let Some(Value::Array(items)) = list {
            items.retain(|item| self.fits(item));
        }
    }
}

impl Test {
    fn holds(&self, item: &Value) -> bool {
        let mut found = false;
        match self {
            Self::Text(text) => {
                each(item, &mut Vec::new(), &mut |_, leaf| found |= leaf.to_lowercase().contains(text));
            }
            Self::Field { path, operator, value } => each(item, &mut Vec::new(), &mut |at, leaf| {
                let named =
                    path.iter().rev().zip(at.iter().rev()).all(|(a, b)| a == b) && at.len() >= path.len();
                found |= named && operator.compares(leaf, value);
            }),
        }
        found
    }
}

/// Visits every value that is no list and no object, as text, with the names that lead to it.
fn each<'a>(value: &'a Value, at: &mut Vec<&'a str>, visit: &mut impl FnMut(&[&str], &str)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                at.push(name);
                each(value, at, visit);
                at.pop();
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each(item, at, visit)),
        Value::String(text) => visit(at, text),
        other => visit(at, &other.to_string()),
    }
}

impl Operator {
    fn compares(self, leaf: &str, value: &str) -> bool {
        let numbers = || number(leaf).zip(number(value));
        match self {
            Self::Contains => leaf.to_lowercase().contains(value),
            Self::Equal => {
                leaf.eq_ignore_ascii_case(value)
                    || short(leaf).eq_ignore_ascii_case(short(value))
                    || numbers().is_some_and(|(a, b)| a == b)
            }
            Self::Less => numbers().is_some_and(|(a, b)| a < b),
            Self::More => numbers().is_some_and(|(a, b)| a > b),
            Self::AtMost => numbers().is_some_and(|(a, b)| a <= b),
            Self::AtLeast => numbers().is_some_and(|(a, b)| a >= b),
        }
    }
}

/// A datapath id without leading zeros.
fn short(text: &str) -> &str {
    let zeros = text.len() - text.trim_start_matches('0').len();
    if text.len() == 16 { &text[zeros.min(15)..] } else { text }
}

/// A number, in thousands if `k` follows, and so on: `10M`.
fn number(text: &str) -> Option<f64> {
    let scales = [('k', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12)];
    let scale = scales.iter().find(|(unit, _)| text.ends_with(*unit));
    let digits = scale.map_or(text, |(unit, _)| text.trim_end_matches(*unit));
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
    digits.parse::<f64>().ok().filter(|_| plain).map(|value| value * scale.map_or(1.0, |(_, scale)| *scale))
}

/// Why a filter cannot be understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FilterError(String);

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FilterError {}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        words(text)?.iter().map(|word| condition(word)).collect::<Result<_, _>>().map(Self)
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
    let value = &after[text.len()..];
    let is_order = !matches!(operator, Operator::Equal | Operator::Contains);
    if is_order && number(value).is_none() {
        return Err(FilterError(format!("{word:?}: {value:?} is no number, such as 10 or 2.5M")));
    }
    let value = if *operator == Operator::Contains { value.to_lowercase() } else { value.to_owned() };
    let path = name.split('.').map(str::to_owned).collect();
    Ok(Condition { negated: negated != not, test: Test::Field { path, operator: *operator, value } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_chosen_as_on_the_page() {
        let cases: Value = serde_json::from_str(include_str!("../../../web/tests/filter.json")).unwrap();
        let item = &cases["item"];
        for case in cases["cases"].as_array().unwrap() {
            let text = case[0].as_str().unwrap();
            let fits = text.parse::<Filter>().map(|filter| filter.fits(item)).ok();
            assert_eq!(fits, case[1].as_bool(), "{text}");
        }
    }
}
