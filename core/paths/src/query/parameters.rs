//! Queries from and to the parameters of a URL.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use braid_types::BitsPerSec;

use super::{Query, QueryError};

impl Query {
    /// Reads a query from parameters such as those of a URL: `src`, `dst`, `mode`, `k`, `weight`, `without` (any
    /// number of times), `min_capacity`, `max_latency`. All but the first two may be absent.
    ///
    /// # Errors
    /// [`QueryError::Invalid`] names the first that is unknown, repeated, missing, or invalid.
    pub fn from_parameters(
        parameters: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, QueryError> {
        let mut query = Self::new("", "");
        let mut given = BTreeSet::new();
        for (name, value) in parameters {
            query.set(&name, value)?;
            if name != "without" && !given.insert(name.clone()) {
                return Err(QueryError::invalid(name, "it is given twice"));
            }
        }
        let missing = ["src", "dst"].into_iter().find(|name| !given.contains(*name));
        let missing = missing.map(|name| QueryError::invalid(name, "say which switch or host"));
        missing.map_or(Ok(query), Err)
    }

    /// The parameters from which [`from_parameters`](Self::from_parameters) reads the same query.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = vec![
            ("src", self.src.clone()),
            ("dst", self.dst.clone()),
            ("mode", self.mode.to_string()),
            ("k", self.k.to_string()),
            ("weight", self.weight.to_string()),
        ];
        parameters.extend(self.without.iter().map(|what| ("without", what.clone())));
        let capacity = Some(self.min_capacity).filter(|capacity| *capacity > BitsPerSec(0));
        parameters.extend(capacity.map(|capacity| ("min_capacity", capacity.exact())));
        parameters.extend(self.max_latency.map(|latency| ("max_latency", latency.exact())));
        parameters
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), QueryError> {
        match name {
            "src" => self.src = value,
            "dst" => self.dst = value,
            "mode" => self.mode = read(name, &value)?,
            "k" => self.k = read_k(&value)?,
            "weight" => self.weight = read(name, &value)?,
            "without" => self.without.push(value),
            "min_capacity" => self.min_capacity = read(name, &value)?,
            "max_latency" => self.max_latency = Some(read(name, &value)?),
            _ => return Err(QueryError::invalid(name, "there is no such parameter")),
        }
        Ok(())
    }
}

fn read_k(value: &str) -> Result<usize, QueryError> {
    value.parse().map_err(|_| QueryError::invalid("k", format!("{value:?} is not a number of paths")))
}

fn read<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, QueryError> {
    value.parse().map_err(|error| QueryError::invalid(name, error))
}
