//! What parsers of files say, in the words of those who write the files.

/// A message of serde's (unknown variant, unknown field, …) in plain words; any other message as it is.
///
/// ```
/// use braid_types::plain_words;
/// let said = plain_words("unknown variant `udp`, expected one of `tcp`, `mptcp`");
/// assert_eq!(said, "there is no value \"udp\": write tcp or mptcp");
/// ```
pub fn plain_words(message: &str) -> String {
    let quoted = |start: &str| {
        message.strip_prefix(start).map(|rest| rest.split_once(", expected ").unwrap_or((rest, "")))
    };
    if let Some((value, values)) = quoted("unknown variant ") {
        return with_choices(format!("there is no value {:?}", bare(value)), "write", values);
    }
    if let Some((key, keys)) = quoted("unknown field ") {
        return with_choices(format!("there is no key {:?} here", bare(key)), "write", keys);
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {:?} is missing", bare(key));
    }
    let twice = ["duplicate mapping key: ", "duplicate field ", "duplicate key "];
    if let Some(key) = twice.iter().find_map(|start| message.strip_prefix(start)) {
        return format!("the key {:?} is given twice", bare(key));
    }
    if let Some((found, wanted)) = quoted("invalid type: ").or_else(|| quoted("invalid value: ")) {
        return format!("{} stands where {} belongs", found.replace('`', ""), meaning(wanted));
    }
    message.to_owned()
}

/// A name without what stands around it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    text.split('`').nth(1).unwrap_or(text)
}

fn with_choices(what: String, verb: &str, choices: &str) -> String {
    let list = choices.strip_prefix("one of ").unwrap_or(choices).replace(" or ", ", ");
    let mut all: Vec<_> = list.split(", ").map(bare).filter(|it| !it.is_empty()).collect();
    match all.pop() {
        None => what,
        Some(only) if all.is_empty() => format!("{what}: {verb} {only}"),
        Some(last) => format!("{what}: {verb} {} or {last}", all.join(", ")),
    }
}

/// What serde calls a type, for those who write files.
fn meaning(wanted: &str) -> String {
    let wanted = wanted.trim_start_matches("a value of type ").replace('`', "");
    match wanted.as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" | "string" => "text".to_owned(),
        "a boolean" | "bool" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a group of keys".to_owned(),
        other if other.starts_with("struct ") => "a group of keys".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_the_words_of_the_files() {
        for (message, words) in [
            ("unknown variant `x`, expected `a`", "there is no value \"x\": write a"),
            ("unknown variant `x`, expected `a` or `b`", "there is no value \"x\": write a or b"),
            ("unknown variant `x`, expected one of a, b, c", "there is no value \"x\": write a, b or c"),
            ("unknown field `x`, expected one of `a`, `b`", "there is no key \"x\" here: write a or b"),
            ("missing field `name`", "the key \"name\" is missing"),
            ("duplicate mapping key: name", "the key \"name\" is given twice"),
            ("duplicate key `name` in document root", "the key \"name\" is given twice"),
            (
                "invalid type: string \"x\", expected u64",
                "string \"x\" stands where a whole number from 0 belongs",
            ),
            ("invalid type: integer `7`, expected a string", "integer 7 stands where text belongs"),
            (
                "invalid type: string \"x\", expected struct File",
                "string \"x\" stands where a group of keys belongs",
            ),
            ("anything else", "anything else"),
        ] {
            assert_eq!(plain_words(message), words);
        }
    }
}
