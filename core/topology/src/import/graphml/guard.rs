//! Bounds on XML documents before parsing. The parser's cost grows quadratically with the attributes of an element, and
//! with the namespaces in scope.

use crate::import::ImportProblem;

/// Attributes of one element; GraphML has six.
const MAX_ATTRIBUTES: usize = 64;
/// Attributes of all elements together.
const MAX_ALL_ATTRIBUTES: usize = 8_000_000;
/// Declarations of namespaces; GraphML needs two.
const MAX_NAMESPACES: usize = 64;

/// Refuses a document beyond these bounds. Invalid XML is left to the parser.
pub(super) fn check(text: &str, file: &str) -> Result<(), ImportProblem> {
    let refuse = |at: usize, what: String| {
        let remedy = "write the graph with a tool that keeps to GraphML";
        Err(ImportProblem::new(file, Some(line_and_column(text, at)), "", what, remedy))
    };
    let (mut all, mut namespaces) = (0, 0);
    for (at, tag) in tags(text) {
        let attributes = attributes(tag);
        all += attributes;
        if attributes > 0 {
            namespaces += tag.matches("xmlns").count();
        }
        if attributes > MAX_ATTRIBUTES {
            return refuse(at, format!("the element has more than {MAX_ATTRIBUTES} attributes"));
        }
        if all > MAX_ALL_ATTRIBUTES {
            return refuse(at, format!("there are more than {MAX_ALL_ATTRIBUTES} attributes up to here"));
        }
        if namespaces > MAX_NAMESPACES {
            return refuse(at, format!("there are more than {MAX_NAMESPACES} namespaces up to here"));
        }
    }
    Ok(())
}

/// Line and column, from 1, of a position between two characters.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let last = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, last.chars().count() + 1)
}

/// Start and end tags with their positions, without brackets.
fn tags(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let open = rest.find('<')?;
            let at = text.len() - rest.len() + open;
            let markup = &rest[open..];
            let skip = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
            let length = match skip.into_iter().find(|(start, _)| markup.starts_with(start)) {
                Some((start, end)) => start.len() + markup[start.len()..].find(end)? + end.len(),
                None => tag_length(markup),
            };
            let (this, after) = markup.split_at(length);
            rest = after;
            if !this.starts_with("<!") && !this.starts_with("<?") {
                return Some((at, this));
            }
        }
    })
}

/// The text up to the closing bracket of the tag, ignoring brackets in quotes.
fn tag_length(markup: &str) -> usize {
    let mut quote = None;
    for (at, byte) in markup.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    markup.len()
}

/// Equal signs outside of quotes.
fn attributes(tag: &str) -> usize {
    let mut quote = None;
    let mut count = 0;
    for byte in tag.bytes() {
        match (quote, byte) {
            (None, b'=') => count += 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        check(text, "f").err().map(|problem| problem.to_string())
    }

    #[test]
    fn attributes_are_counted_where_they_are() {
        let many = |count: usize| (0..count).map(|n| format!(" a{n}='>'")).collect::<String>();
        assert_eq!(refusal(&format!("<x>\n<y{}/></x>", many(64))), None);
        let refused = refusal(&format!("<x>\n é<y{}/></x>", many(65))).unwrap();
        assert!(refused.starts_with("f:2:3: the element has more than 64 attributes; "), "{refused}");
        assert_eq!(refusal(&format!("<x><!-- <y{}/> --><![CDATA[<y{}>]]></x>", many(99), many(99))), None);
        let spaces = (0..65).map(|n| format!("<x xmlns:a{n}='u'>")).collect::<String>();
        assert!(refusal(&spaces).is_some_and(|it| it.contains("more than 64 namespaces")));
    }

    #[test]
    fn what_is_no_xml_is_left_to_the_parser() {
        for text in ["", "<", "<a b='", "<!-- ", "<![CDATA[", "<?x", "a > b", "<<<", "é<é"] {
            assert_eq!(refusal(text), None, "{text}");
        }
    }
}
