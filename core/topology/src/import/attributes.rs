//! The known attributes of nodes and edges in all file formats. Others are ignored.

use std::time::Duration;

use braid_types::{BitsPerSec, DatapathId};

use super::document::Scalar;
use super::{names, values};
use crate::blueprint::Position;

/// The remedy for an invalid value.
pub(super) const REMEDY: &str = "mend it, or leave it out";

/// The names of all known attributes.
const KNOWN: [&str; 22] = [
    "Network",
    "label",
    "name",
    "Latitude",
    "latitude",
    "lat",
    "Longitude",
    "longitude",
    "lon",
    "lng",
    "type",
    "group",
    "dpid",
    "capacity",
    "bandwidth",
    "rate",
    "delay",
    "latency",
    "LinkSpeedRaw",
    "LinkSpeed",
    "LinkSpeedUnits",
    "LinkLabel",
];

/// Whether an attribute of this name is known.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// The attributes of a node.
#[derive(Default)]
pub(super) struct NodeAttributes {
    label: Option<String>,
    name: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    pub(super) host: bool,
    pub(super) group: Option<String>,
    pub(super) dpid: Option<DatapathId>,
}

/// The attributes of an edge.
#[derive(Default)]
pub(super) struct EdgeAttributes {
    capacity: Option<BitsPerSec>,
    pub(super) delay: Option<Duration>,
    raw_speed: Option<BitsPerSec>,
    speed: Option<f64>,
    units: Option<String>,
    link_label: Option<String>,
}

impl NodeAttributes {
    /// Sets an attribute; the error describes an invalid value.
    pub(super) fn set(&mut self, name: &str, value: &Scalar) -> Result<(), String> {
        if *value == Scalar::Null {
            return Ok(());
        }
        match name {
            "label" => self.label = Some(text(value)?),
            "name" => self.name = Some(text(value)?),
            "Latitude" | "latitude" | "lat" => self.latitude = Some(degrees(value, 90.0)?),
            "Longitude" | "longitude" | "lon" | "lng" => self.longitude = Some(degrees(value, 180.0)?),
            "type" => self.host = text(value)?.eq_ignore_ascii_case("host"),
            "group" => self.group = names::tidy(&text(value)?),
            "dpid" => self.dpid = Some(text(value)?.parse().map_err(|error| format!("{error}"))?),
            _ => {}
        }
        Ok(())
    }

    /// The node's name.
    pub(super) fn label(&self) -> Option<String> {
        [&self.label, &self.name].into_iter().find_map(|text| names::tidy(text.as_deref()?))
    }

    pub(super) fn position(&self) -> Option<Position> {
        Position::new(self.latitude?, self.longitude?)
    }
}

impl EdgeAttributes {
    /// Sets an attribute; the error describes an invalid value.
    pub(super) fn set(&mut self, name: &str, value: &Scalar) -> Result<(), String> {
        if *value == Scalar::Null {
            return Ok(());
        }
        match name {
            "capacity" | "bandwidth" | "rate" => self.capacity = Some(rate(value)?),
            "delay" | "latency" => self.delay = Some(delay(value)?),
            "LinkSpeedRaw" => self.raw_speed = Some(rate(value)?),
            "LinkSpeed" => self.speed = speed(value)?,
            "LinkSpeedUnits" => self.units = Some(text(value)?),
            "LinkLabel" => self.link_label = Some(text(value)?),
            _ => {}
        }
        Ok(())
    }

    /// The first one present of: the capacity, the Topology Zoo's raw speed, its speed in units, or a rate in the link label.
    pub(super) fn capacity(&self) -> Option<BitsPerSec> {
        let labelled = || values::rate(self.link_label.as_deref()?).ok();
        self.capacity.or(self.raw_speed).or_else(|| self.speed_in_units()).or_else(labelled)
    }

    fn speed_in_units(&self) -> Option<BitsPerSec> {
        let scale = match self.units.as_deref()?.trim().chars().next()?.to_ascii_uppercase() {
            'T' => 1e12,
            'G' => 1e9,
            'M' => 1e6,
            'K' => 1e3,
            _ => return None,
        };
        values::rate_of(self.speed? * scale).ok()
    }
}

fn text(value: &Scalar) -> Result<String, String> {
    match value {
        Scalar::Other(what) => Err(format!("{what} is not text")),
        scalar => Ok(scalar.to_string()),
    }
}

fn degrees(value: &Scalar, most: f64) -> Result<f64, String> {
    let degrees = number(value).filter(|degrees| degrees.abs() <= most);
    degrees.ok_or_else(|| format!("{} is not a number of degrees from -{most} to {most}", quoted(value)))
}

fn rate(value: &Scalar) -> Result<BitsPerSec, String> {
    match value {
        Scalar::Integer(number) if u64::try_from(*number).is_ok() => Ok(BitsPerSec(*number as u64)),
        Scalar::Integer(_) | Scalar::Float(_) => values::rate_of(number(value).unwrap_or(f64::NAN)),
        Scalar::Text(text) => values::rate(text),
        other => Err(format!("{other} is not a rate: write \"100Mbit\" or a number of bit/s")),
    }
}

fn delay(value: &Scalar) -> Result<Duration, String> {
    match value {
        Scalar::Integer(_) | Scalar::Float(_) => values::delay_of(number(value).unwrap_or(f64::NAN)),
        Scalar::Text(text) => values::delay(text),
        other => Err(format!("{other} is not a delay: write \"10ms\" or a number of seconds")),
    }
}

/// The Topology Zoo's value is text and not always a number; a number must not be negative.
fn speed(value: &Scalar) -> Result<Option<f64>, String> {
    match number(value) {
        Some(number) if !(0.0..f64::INFINITY).contains(&number) => Err(format!("{number} is not a speed")),
        number => Ok(number),
    }
}

fn number(value: &Scalar) -> Option<f64> {
    match value {
        Scalar::Integer(number) => Some(*number as f64),
        Scalar::Float(number) => Some(*number),
        Scalar::Text(text) => values::number(text),
        _ => None,
    }
}

fn quoted(value: &Scalar) -> String {
    match value {
        Scalar::Text(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}
