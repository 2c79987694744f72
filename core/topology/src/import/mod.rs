//! Networks from files: GraphML as in the Internet Topology Zoo, NetworkX's node-link JSON, what Mininet's editor saves,
//! containerlab's topology files, and Braid's own JSON.
//!
//! Input is untrusted. It is at most [`MAX_INPUT`] long. Invalid content is refused with its location and a remedy;
//! unknown content is skipped with a warning.
//!
//! ```
//! use braid_topology::import;
//! use braid_types::BitsPerSec;
//! let text = r#"{"nodes": [{"id": "ams"}, {"id": "gva"}],
//!                "links": [{"source": "ams", "target": "gva", "capacity": "10Gbit", "delay": "8ms"}]}"#;
//! let imported = import::json(text, "two.json", BitsPerSec(1_000_000_000))?;
//! assert_eq!(imported.blueprint.switches()[1].name, "gva");
//! assert!(imported.warnings.is_empty());
//!
//! let wrong = text.replace("10Gbit", "fast");
//! let problem = import::json(&wrong, "two.json", BitsPerSec(0)).unwrap_err().to_string();
//! assert!(problem.starts_with("two.json:2:78: links[0].capacity: \"fast\" is not a rate"), "{problem}");
//! # Ok::<(), import::ImportProblem>(())
//! ```

mod attributes;
mod braid;
mod containerlab;
mod document;
mod draft;
mod graphml;
mod miniedit;
mod names;
mod node_link;
mod problem;
mod values;

use braid_types::BitsPerSec;

use crate::Blueprint;

pub use braid::braid;
pub use containerlab::containerlab;
pub(crate) use document::at_most;
pub use graphml::graphml;
pub use miniedit::miniedit;
pub use node_link::node_link;
pub use problem::ImportProblem;

/// The longest document in bytes.
pub const MAX_INPUT: usize = 64 << 20;

/// The number of warnings reported individually.
pub const MAX_WARNINGS: usize = 50;

/// A network from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The network.
    pub blueprint: Blueprint,
    /// Warnings about skipped content and assumptions: at most [`MAX_WARNINGS`], and a last one that counts the others.
    pub warnings: Vec<ImportProblem>,
}

/// Reads a JSON document of any kind: with `"schema": "braid/v1"` as [`braid`], with `switches` as [`miniedit`], else as
/// [`node_link`].
///
/// `file` is the document's name in problems; links without a capacity have `capacity`.
///
/// # Errors
///
/// [`ImportProblem`] if the document is not a network.
pub fn json(text: &str, file: &str, capacity: BitsPerSec) -> Result<Imported, ImportProblem> {
    let document::Head { schema, has_switches } = document::head(text, file)?;
    match schema.as_deref() {
        Some("braid/v1") => Ok(Imported { blueprint: braid(text, file)?, warnings: Vec::new() }),
        Some(other) => {
            let what = format!("{other:?} is not a schema that is known");
            let remedy = "Braid's own documents have \"braid/v1\"; NetworkX's have none";
            Err(ImportProblem::new(file, None, "schema", what, remedy))
        }
        None if has_switches => miniedit(text, file, capacity),
        None => node_link(text, file, capacity),
    }
}

fn check_size(text: &str, file: &str) -> Result<(), ImportProblem> {
    if text.len() <= MAX_INPUT {
        return Ok(());
    }
    let what = format!("{} bytes are too many", text.len());
    Err(ImportProblem::new(file, None, "", what, format!("a document has at most {MAX_INPUT}")))
}
