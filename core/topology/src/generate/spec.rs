//! Network families as text, such as `fattree:8` or `jellyfish:60,10,120,7`.

use std::fmt;
use std::str::FromStr;

use braid_types::{text_schema, with_schema};

use super::{GenerateError, Jellyfish, Links, SpecError};
use crate::Blueprint;

/// A family of networks with sizes; as text `fattree:8` or `jellyfish:60,10,120,7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spec {
    /// `fattree:K`, see [`fat_tree`](super::fat_tree()).
    FatTree {
        /// The ports of a switch.
        k: usize,
    },
    /// `jellyfish:SWITCHES,PORTS,HOSTS[,SEED]`, see [`jellyfish`](super::jellyfish()).
    Jellyfish(Jellyfish),
    /// `dh-jellyfish:SWITCHES,PORTS,HOSTS[,SEED]`, see [`dual_homed_jellyfish`](super::dual_homed_jellyfish).
    DualHomedJellyfish(Jellyfish),
    /// `line:N`, see [`line`](super::line()).
    Line {
        /// The number of switches.
        switches: usize,
    },
    /// `ring:N`, see [`ring`](super::ring).
    Ring {
        /// The number of switches.
        switches: usize,
    },
    /// `torus:ROWS,COLUMNS`, see [`torus`](super::torus).
    Torus {
        /// The number of rows.
        rows: usize,
        /// The number of switches in a row.
        columns: usize,
    },
    /// `two-path`, see [`two_path`](super::two_path()).
    TwoPath,
    /// `east-asia`, see [`east_asia`](super::east_asia()).
    EastAsia,
    /// `huang-a`, see [`huang_a`](super::huang_a).
    HuangA,
    /// `huang-b`, see [`huang_b`](super::huang_b).
    HuangB,
}

impl Spec {
    /// The text forms of the families.
    pub const FORMS: [&str; 10] = [
        "fattree:K",
        "jellyfish:SWITCHES,PORTS,HOSTS[,SEED]",
        "dh-jellyfish:SWITCHES,PORTS,HOSTS[,SEED]",
        "line:N",
        "ring:N",
        "torus:ROWS,COLUMNS",
        "two-path",
        "east-asia",
        "huang-a",
        "huang-b",
    ];

    /// Generates the network. Testbeds with properties of their own ([`Spec::has_own_links`]) ignore `links`.
    ///
    /// # Errors
    ///
    /// [`GenerateError`] if the sizes are impossible.
    pub fn generate(self, links: Links) -> Result<Blueprint, GenerateError> {
        match self {
            Self::FatTree { k } => super::fat_tree(k, links),
            Self::Jellyfish(sizes) => super::jellyfish(sizes, links),
            Self::DualHomedJellyfish(sizes) => super::dual_homed_jellyfish(sizes, links),
            Self::Line { switches } => super::line(switches, links),
            Self::Ring { switches } => super::ring(switches, links),
            Self::Torus { rows, columns } => super::torus(rows, columns, links),
            Self::TwoPath => Ok(super::two_path(links)?),
            Self::EastAsia => Ok(super::east_asia()?),
            Self::HuangA => Ok(super::huang_a()?),
            Self::HuangB => Ok(super::huang_b()?),
        }
    }

    /// Whether the family defines the capacities and delays of its links.
    pub const fn has_own_links(self) -> bool {
        matches!(self, Self::EastAsia | Self::HuangA | Self::HuangB)
    }

    /// Whether the text begins with the name of a family and so is a spec.
    pub fn is_meant_by(text: &str) -> bool {
        form_of(split(text).0).is_some()
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (family, arguments) = split(text);
        let form = form_of(family).ok_or_else(|| SpecError::UnknownFamily(family.to_owned()))?;
        let wrong = |what| SpecError::Arguments { text: text.to_owned(), form, what };
        let numbers = numbers(arguments).map_err(wrong)?;
        from_numbers(family, &numbers).ok_or_else(|| wrong(format!("it has {} numbers", numbers.len())))
    }
}

with_schema!(
    Spec,
    text_schema(&format!("one of {}", Spec::FORMS.join(", ")), &Spec::FORMS.map(pattern_of).join("|"))
);

/// The pattern of a form: its upper-case words are numbers, and what is in brackets may be missing.
fn pattern_of(form: &str) -> String {
    let mut pattern = String::new();
    for (before, letter) in std::iter::once(' ').chain(form.chars()).zip(form.chars()) {
        match letter {
            '[' => pattern.push_str("(?:"),
            ']' => pattern.push_str(")?"),
            'A'..='Z' if before.is_ascii_uppercase() => {}
            'A'..='Z' => pattern.push_str(r" *\d+ *"),
            other => pattern.push(other),
        }
    }
    pattern
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FatTree { k } => write!(f, "fattree:{k}"),
            Self::Jellyfish(sizes) => write!(f, "jellyfish:{sizes}"),
            Self::DualHomedJellyfish(sizes) => write!(f, "dh-jellyfish:{sizes}"),
            Self::Line { switches } => write!(f, "line:{switches}"),
            Self::Ring { switches } => write!(f, "ring:{switches}"),
            Self::Torus { rows, columns } => write!(f, "torus:{rows},{columns}"),
            Self::TwoPath => f.write_str("two-path"),
            Self::EastAsia => f.write_str("east-asia"),
            Self::HuangA => f.write_str("huang-a"),
            Self::HuangB => f.write_str("huang-b"),
        }
    }
}

fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once(':').map_or((text, None), |(family, arguments)| (family, Some(arguments)))
}

fn form_of(family: &str) -> Option<&'static str> {
    Spec::FORMS.into_iter().find(|form| split(form).0 == family)
}

fn numbers(arguments: Option<&str>) -> Result<Vec<u64>, String> {
    let arguments = arguments.map(|arguments| arguments.split(',')).into_iter().flatten();
    let number = |text: &str| text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"));
    arguments.map(number).collect()
}

fn from_numbers(family: &str, numbers: &[u64]) -> Option<Spec> {
    Some(match (family, numbers) {
        ("fattree", &[k]) => Spec::FatTree { k: size(k) },
        ("jellyfish", numbers) => Spec::Jellyfish(jellyfish(numbers)?),
        ("dh-jellyfish", numbers) => Spec::DualHomedJellyfish(jellyfish(numbers)?),
        ("line", &[switches]) => Spec::Line { switches: size(switches) },
        ("ring", &[switches]) => Spec::Ring { switches: size(switches) },
        ("torus", &[rows, columns]) => Spec::Torus { rows: size(rows), columns: size(columns) },
        ("two-path", []) => Spec::TwoPath,
        ("east-asia", []) => Spec::EastAsia,
        ("huang-a", []) => Spec::HuangA,
        ("huang-b", []) => Spec::HuangB,
        _ => return None,
    })
}

fn jellyfish(numbers: &[u64]) -> Option<Jellyfish> {
    let (&[switches, ports, hosts], rest) = numbers.split_first_chunk()?;
    let seed = match rest {
        [] => 0,
        &[seed] => seed,
        _ => return None,
    };
    Some(Jellyfish { switches: size(switches), ports: size(ports), hosts: size(hosts), seed })
}

// A number that overflows is larger than any network.
fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
