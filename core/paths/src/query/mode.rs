use crate::Kind;

const WITHIN: &str = "within:";

/// Reads a kind of path set: its name, or `within:HOPS`.
///
/// # Errors
/// What is wrong with the text, for people.
pub fn read_mode(text: &str) -> Result<Kind, String> {
    text.parse::<Kind>().map_err(|error| match text.starts_with(WITHIN) {
        true => format!("HOPS is a whole number, such as {WITHIN}4"),
        false => error.to_string(),
    })
}
