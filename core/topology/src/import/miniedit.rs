//! Import of the networks that Mininet's editor, MiniEdit, saves (`.mn`).

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{BitsPerSec, DatapathId};
use serde::Deserialize;

use super::document::{Scalar, at_most, malformed};
use super::draft::{Document, Draft, Edge, Node, Origin};
use super::{ImportProblem, Imported, attributes, check_size, names, values};
use crate::blueprint::{MAX_HOSTS, MAX_LINKS, MAX_SWITCHES};

/// Reads what MiniEdit saves.
///
/// Switches, also those without OpenFlow and routers, are switches. As in Mininet a switch without a datapath id has the
/// number in its name. Of a link count `bw` in Mbit/s and `delay` (text such as `5ms`; a number is in microseconds, as of
/// `tc`). Controllers are ignored.
///
/// # Errors
///
/// [`ImportProblem`] for what is no such file or no network.
pub fn miniedit(text: &str, file: &str, capacity: BitsPerSec) -> Result<Imported, ImportProblem> {
    check_size(text, file)?;
    let sheet: Sheet = serde_json::from_str(text).map_err(|error| malformed(file, &error))?;
    let document = Saved { file, switches: sheet.switches.len() };
    sheet.draft(&document)?.assemble(&document, capacity)
}

#[derive(Deserialize)]
struct Sheet {
    #[serde(deserialize_with = "at_most::<MAX_SWITCHES, _, _>")]
    switches: Vec<Widget>,
    #[serde(deserialize_with = "at_most::<MAX_HOSTS, _, _>")]
    hosts: Vec<Widget>,
    #[serde(deserialize_with = "at_most::<MAX_LINKS, _, _>")]
    links: Vec<Wire>,
}

/// A switch or a host.
#[derive(Deserialize)]
struct Widget {
    opts: WidgetOptions,
}

#[derive(Deserialize)]
struct WidgetOptions {
    hostname: String,
    dpid: Option<String>,
}

#[derive(Deserialize)]
struct Wire {
    src: String,
    dest: String,
    #[serde(default)]
    opts: WireOptions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireOptions {
    bw: Option<Scalar>,
    delay: Option<Scalar>,
}

struct Saved<'a> {
    file: &'a str,
    switches: usize,
}

impl Document for Saved<'_> {
    fn file(&self) -> &str {
        self.file
    }

    fn locate(&self, origin: Origin) -> (Option<(usize, usize)>, String) {
        let place = match origin {
            Origin::Node(index) if index < self.switches => format!("switches[{index}]"),
            Origin::Node(index) => format!("hosts[{}]", index - self.switches),
            Origin::Edge(index) => format!("links[{index}]"),
        };
        (None, place)
    }
}

impl Sheet {
    /// Switches come before hosts.
    fn draft(self, document: &Saved<'_>) -> Result<Draft, ImportProblem> {
        let kinds = [(self.switches, false), (self.hosts, true)];
        let widgets = kinds.into_iter().flat_map(|(list, host)| list.into_iter().map(move |it| (it, host)));
        let (mut nodes, mut by_name) = (Vec::new(), BTreeMap::new());
        for (index, (widget, host)) in widgets.enumerate() {
            let WidgetOptions { hostname, dpid } = widget.opts;
            let refuse = |what: String| document.problem(Origin::Node(index), what, attributes::REMEDY);
            let label = names::tidy(&hostname).ok_or_else(|| refuse("it has no hostname".to_owned()))?;
            let dpid = if host { None } else { datapath(dpid.as_deref(), &hostname).map_err(refuse)? };
            if by_name.insert(hostname, index).is_some() {
                return Err(refuse(format!("there is another {label:?}")));
            }
            nodes.push(Node { label, host, dpid, position: None, group: None });
        }
        let wires = self.links.into_iter().enumerate();
        let edges =
            wires.map(|(index, wire)| edge(wire, index, &by_name, document)).collect::<Result<_, _>>()?;
        Ok(Draft { name: document.file.to_owned(), nodes, edges, simple: false })
    }
}

/// The datapath id that Mininet gives a switch: the one that is set, else the first number in its name.
fn datapath(given: Option<&str>, name: &str) -> Result<Option<DatapathId>, String> {
    if let Some(given) = given.filter(|text| !text.trim().is_empty()) {
        return given.trim().replace(':', "").parse().map(Some).map_err(|error| format!("{error}"));
    }
    let digits = name.trim_start_matches(|it: char| !it.is_ascii_digit());
    let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
    Ok(digits.get(..end).and_then(|digits| digits.parse().ok()).map(DatapathId))
}

fn edge(
    wire: Wire,
    index: usize,
    by_name: &BTreeMap<String, usize>,
    document: &Saved<'_>,
) -> Result<Edge, ImportProblem> {
    let origin = Origin::Edge(index);
    let [a, b] = [&wire.src, &wire.dest].map(|name| {
        let missing =
            || document.problem(origin, format!("there is no {name:?}"), "add it, or mend the name");
        by_name.get(name).copied().ok_or_else(missing)
    });
    let ends = [a?, b?];
    let refuse = |what: String| document.problem(origin, what, attributes::REMEDY);
    let capacity = wire.opts.bw.as_ref().map(rate).transpose().map_err(refuse)?.flatten();
    let delay = wire.opts.delay.as_ref().map(delay).transpose().map_err(refuse)?.flatten();
    Ok(Edge { ends, directed: false, key: None, capacity, delay })
}

/// A number of Mbit/s.
fn rate(bw: &Scalar) -> Result<Option<BitsPerSec>, String> {
    let megabits = match bw {
        Scalar::Null => return Ok(None),
        Scalar::Text(text) if text.trim().is_empty() => return Ok(None),
        other => values::number(&other.to_string()),
    };
    let megabits = megabits.ok_or_else(|| format!("bw: {bw} is not a number of Mbit/s"))?;
    values::rate_of(megabits * 1e6).map(Some).map_err(|what| format!("bw: {what}"))
}

/// A time with a unit, or a number of microseconds.
fn delay(given: &Scalar) -> Result<Option<Duration>, String> {
    let text = match given {
        Scalar::Null => return Ok(None),
        Scalar::Text(text) if text.trim().is_empty() => return Ok(None),
        other => other.to_string(),
    };
    let delay = match values::number(&text) {
        Some(micros) => values::delay_of(micros / 1e6),
        None => values::delay(&text),
    };
    delay.map(Some).map_err(|what| format!("delay: {what}"))
}
