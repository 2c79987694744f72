//! Writes the messages of core/openflow/testdata into the corpora of the fuzzers that take whole messages or
//! their bodies, and the networks of core/topology/testdata into those of the importers: `cargo run --bin seed`.

use std::path::Path;
use std::{fs, io};

const WHOLE: [&str; 2] = ["openflow_message", "openflow_stream"];
const BODIES: [(u8, &str); 2] = [(18, "openflow_multipart_request"), (19, "openflow_multipart_reply")];
const NETWORKS: [(&str, &str); 5] = [
    ("zoo.graphml", "topology_graphml"),
    ("node_link.json", "topology_json"),
    ("zoo.json", "topology_json"),
    ("office.mn", "topology_json"),
    ("fabric.clab.yml", "topology_containerlab"),
];

fn main() -> io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["recorded.hex", "by_hand.hex"] {
        let text = fs::read_to_string(fuzz.join("../core/openflow/testdata").join(file))?;
        for (name, bytes) in messages(&text) {
            for target in WHOLE {
                write(fuzz, target, name, &bytes)?;
            }
            let kind = bytes.get(1).copied().unwrap_or_default();
            for (_, target) in BODIES.iter().filter(|(of, _)| *of == kind) {
                write(fuzz, target, name, bytes.get(8..).unwrap_or_default())?;
            }
        }
    }
    for (file, target) in NETWORKS {
        write(fuzz, target, file, &fs::read(fuzz.join("../core/topology/testdata").join(file))?)?;
    }
    Ok(())
}

fn write(fuzz: &Path, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = fuzz.join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

/// The messages of a file of testdata by name.
fn messages(text: &str) -> Vec<(&str, Vec<u8>)> {
    let mut found: Vec<(&str, Vec<u8>)> = Vec::new();
    for line in text.lines().filter_map(|line| line.split('#').next()) {
        match (line.strip_prefix('[').and_then(|head| head.split(']').next()), found.last_mut()) {
            (Some(name), _) => found.push((name, Vec::new())),
            (None, Some((_, bytes))) => {
                bytes.extend(hex::decode(line.replace(' ', "")).expect("testdata is hexadecimal"));
            }
            (None, None) => {}
        }
    }
    found
}
