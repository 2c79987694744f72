//! Calls and values of XML-RPC, as far as the methods here need them.

use std::fmt::Write;

use roxmltree::{Document, Node, ParsingOptions};

/// What a method is given or gives.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Int(i32),
    Text(String),
    List(Vec<Value>),
    Record(Vec<(&'static str, Value)>),
    /// Of a type that no method here takes; its name.
    Other(String),
}

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Call {
    pub(super) method: String,
    pub(super) parameters: Vec<Value>,
}

/// Why a call has no result. The codes are those of the "Specification for Fault Code Interoperability".
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Fault {
    pub(super) code: i32,
    pub(super) text: String,
}

impl Fault {
    pub(super) const NOT_WELL_FORMED: i32 = -32_700;
    pub(super) const NOT_A_CALL: i32 = -32_600;
    pub(super) const NO_METHOD: i32 = -32_601;
    pub(super) const PARAMETERS: i32 = -32_602;
    pub(super) const APPLICATION: i32 = -32_500;

    pub(super) fn new(code: i32, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    pub(super) fn to_xml(&self) -> String {
        let fields =
            vec![("faultCode", Value::Int(self.code)), ("faultString", Value::Text(self.text.clone()))];
        let mut out = String::from("<?xml version=\"1.0\"?>\n<methodResponse><fault>");
        Value::Record(fields).write(&mut out);
        out + "</fault></methodResponse>\n"
    }
}

/// Elements in a call, at most.
const MAX_NODES: u32 = 4_096;

/// Reads a call. A definition of a document type is refused, and with it every entity of one's own.
pub(super) fn parse_call(body: &[u8]) -> Result<Call, Fault> {
    let text =
        std::str::from_utf8(body).map_err(|_| Fault::new(Fault::NOT_WELL_FORMED, "the body is not UTF-8"))?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| Fault::new(Fault::NOT_WELL_FORMED, error.to_string()))?;
    let root = document.root_element();
    if !root.has_tag_name("methodCall") {
        return Err(Fault::new(Fault::NOT_A_CALL, "the body is no <methodCall>"));
    }
    let method = child(root, "methodName").and_then(|node| node.text());
    let method = method.ok_or_else(|| Fault::new(Fault::NOT_A_CALL, "the call has no <methodName>"))?;
    let parameters =
        child(root, "params").map(|list| list.children().filter(Node::is_element).map(parameter));
    Ok(Call {
        method: method.trim().to_owned(),
        parameters: parameters.map_or_else(|| Ok(Vec::new()), Iterator::collect)?,
    })
}

fn parameter(node: Node<'_, '_>) -> Result<Value, Fault> {
    let value = child(node, "value").filter(|_| node.has_tag_name("param"));
    let value =
        value.ok_or_else(|| Fault::new(Fault::NOT_A_CALL, "a parameter is a <param> with a <value>"))?;
    let typed = value.children().find(Node::is_element);
    let text = |node: Node<'_, '_>| node.text().unwrap_or_default().to_owned();
    Ok(match typed {
        // Without a type it is text.
        None => Value::Text(text(value)),
        Some(node) => match node.tag_name().name() {
            "string" => Value::Text(text(node)),
            "int" | "i4" => Value::Int(number(&text(node))?),
            other => Value::Other(other.to_owned()),
        },
    })
}

fn number(text: &str) -> Result<i32, Fault> {
    let number = text.trim().parse();
    number.map_err(|_| Fault::new(Fault::PARAMETERS, format!("{text:?} is no integer of 32 bits")))
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.has_tag_name(name))
}

impl Value {
    /// The response of a method that gives this.
    pub(super) fn to_response(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\"?>\n<methodResponse><params><param>");
        self.write(&mut out);
        out + "</param></params></methodResponse>\n"
    }

    fn write(&self, out: &mut String) {
        out.push_str("<value>");
        match self {
            Self::Int(number) => _ = write!(out, "<int>{number}</int>"),
            Self::Text(text) | Self::Other(text) => {
                out.push_str("<string>");
                escape(text, out);
                out.push_str("</string>");
            }
            Self::List(items) => {
                out.push_str("<array><data>");
                items.iter().for_each(|item| item.write(out));
                out.push_str("</data></array>");
            }
            Self::Record(fields) => {
                out.push_str("<struct>");
                for (name, value) in fields {
                    _ = write!(out, "<member><name>{name}</name>");
                    value.write(out);
                    out.push_str("</member>");
                }
                out.push_str("</struct>");
            }
        }
        out.push_str("</value>");
    }
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML 1.0 has no other control characters.
            '\t' | '\n' => out.push(letter),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Call, i32> {
        parse_call(text.as_bytes()).map_err(|fault| fault.code)
    }

    #[test]
    fn calls_of_common_clients_are_read() {
        let call = "<?xml version='1.0'?>\n<methodCall>\n<methodName>MakePath</methodName>\n<params>\n<param>\n<value>\
                    <string>a&amp;b</string></value>\n</param>\n<param><value><i4>-4</i4></value></param>\
                    <param><value>bare</value></param><param><value><double>1.5</double></value></param></params>\n</methodCall>";
        let parameters = vec![
            Value::Text("a&b".to_owned()),
            Value::Int(-4),
            Value::Text("bare".to_owned()),
            Value::Other("double".to_owned()),
        ];
        assert_eq!(parse(call), Ok(Call { method: "MakePath".to_owned(), parameters }));
        let bare = parse("<methodCall><methodName>m</methodName></methodCall>").expect("no parameters");
        assert!(bare.parameters.is_empty());
    }

    #[test]
    fn document_types_and_their_entities_are_refused() {
        let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\
                    <methodCall><methodName>&b;</methodName></methodCall>";
        assert_eq!(parse(bomb), Err(Fault::NOT_WELL_FORMED));
        assert_eq!(
            parse("<methodCall><methodName>&b;</methodName></methodCall>"),
            Err(Fault::NOT_WELL_FORMED)
        );
    }

    #[test]
    fn what_is_no_call_is_refused() {
        for text in ["", "<", "<methodCall>", "\u{0}", "{\"method\": \"MakePath\"}"] {
            assert_eq!(parse(text), Err(Fault::NOT_WELL_FORMED), "{text}");
        }
        for text in ["<x/>", "<methodCall/>", "<methodCall><methodName/></methodCall>"] {
            assert_eq!(parse(text), Err(Fault::NOT_A_CALL), "{text}");
        }
        let deep = "<value><array><data>".repeat(5_000);
        let deep = format!("<methodCall><methodName>m</methodName><params><param>{deep}");
        assert_eq!(parse(&deep), Err(Fault::NOT_WELL_FORMED));
        assert_eq!(
            parse_call(b"<methodCall>\xff</methodCall>").map_err(|it| it.code),
            Err(Fault::NOT_WELL_FORMED)
        );
        let big = "<methodCall><methodName>m</methodName><params><param><value><int>4294967296</int></value></param></params></methodCall>";
        assert_eq!(parse(big), Err(Fault::PARAMETERS));
    }

    #[test]
    fn what_is_written_can_be_read() {
        let text = Fault::new(7, "a < b & \u{1} c").to_xml();
        let document = Document::parse(&text).expect("well-formed");
        let strings = document.descendants().filter(|node| node.has_tag_name("string"));
        assert_eq!(
            strings.map(|node| node.text().unwrap_or_default()).collect::<Vec<_>>(),
            ["a < b & \u{fffd} c"]
        );
    }
}
