//! The messages of testdata/, by name.

use std::path::Path;

/// A message and where it comes from.
pub(crate) struct Golden {
    /// Its name, unique among all.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// All messages: recorded from Open vSwitch and laid out by hand.
pub(crate) fn all() -> Vec<Golden> {
    ["recorded.hex", "by_hand.hex"].iter().flat_map(|file| read(file)).collect()
}

/// The bytes of one message.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let found = all().into_iter().find(|golden| golden.name == name);
    found.unwrap_or_else(|| panic!("testdata/ has no message {name}")).bytes
}

fn read(file: &str) -> Vec<Golden> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut found: Vec<Golden> = Vec::new();
    for line in text.lines().map(without_comment) {
        match (line.strip_prefix('['), found.last_mut()) {
            (Some(head), _) => {
                let name = head.split(']').next().expect("a name ends with ]").to_owned();
                found.push(Golden { name, bytes: Vec::new() });
            }
            (None, Some(golden)) => {
                let bytes = hex::decode(line.replace(' ', "")).expect("hexadecimal digits");
                golden.bytes.extend(bytes);
            }
            (None, None) => assert!(line.is_empty(), "{file}: bytes before a name"),
        }
    }
    found
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}
