//! The file of fitted stream models, written by `braid calibrate` and read by a controller.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use braid_assign::{Fit, Growth, Sample, StreamModel};
use braid_types::DatapathId;
use serde::{Deserialize, Serialize};

/// The file of fitted models that `braid calibrate --save` writes and a controller reads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ModelFile {
    schema: String,
    /// The model of the whole network.
    network: Fitted,
    /// Paths with a model of their own, or with samples.
    #[serde(default)]
    paths: Vec<PathModel>,
}

/// A fitted model with its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Fitted {
    pub(super) a: f64,
    pub(super) saturation_loss: f64,
    #[serde(default)]
    pub(super) growth: Growth,
    /// The 95 % confidence interval of `a`; null where it has no bound.
    #[serde(default)]
    pub(super) a_between: [Option<f64>; 2],
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct PathModel {
    /// The switches from the first to the last.
    pub(super) switches: Vec<DatapathId>,
    /// `null` if its samples do not determine a model.
    #[serde(default)]
    pub(super) model: Option<Fitted>,
    /// The samples.
    #[serde(default)]
    pub(super) samples: Vec<Measured>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    available_bps: u64,
    round_trip_us: f64,
    streams: usize,
    goodput_bps: u64,
}

impl ModelFile {
    pub(super) fn new(network: Fitted, paths: Vec<PathModel>) -> Self {
        Self { schema: "braid/v1".to_owned(), network, paths }
    }

    /// Reads a file and checks it.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let name = || path.display().to_string();
        let file: Self =
            serde_json::from_str(&fs::read_to_string(path).with_context(name)?).with_context(name)?;
        if file.schema != "braid/v1" {
            bail!("{}: its schema is {:?}, not braid/v1", name(), file.schema);
        }
        let all = file.paths.iter().filter_map(|path| path.model).chain([file.network]);
        all.map(|it| it.model().checked()).collect::<Result<Vec<_>, _>>().with_context(name)?;
        Ok(file)
    }

    /// The model of the network.
    pub(crate) const fn network(&self) -> StreamModel {
        self.network.model()
    }

    /// The models of paths, by their switches.
    pub(crate) fn paths(&self) -> BTreeMap<Vec<DatapathId>, StreamModel> {
        let known = self.paths.iter().filter_map(|path| Some((path, path.model?)));
        known.map(|(path, fitted)| (path.switches.clone(), fitted.model())).collect()
    }
}

impl Fitted {
    const fn model(self) -> StreamModel {
        StreamModel { a: self.a, saturation_loss: self.saturation_loss, growth: self.growth }
    }

    /// Whether both bounds are known.
    pub(super) fn is_bounded(self) -> bool {
        self.a_between.iter().all(Option::is_some)
    }
}

impl From<Fit> for Fitted {
    fn from(fit: Fit) -> Self {
        let [low, high] = fit.a_between;
        let a_between = [(low > 0.0).then_some(low), (high < f64::MAX).then_some(high)];
        Self {
            a: fit.model.a,
            saturation_loss: fit.model.saturation_loss,
            growth: fit.model.growth,
            a_between,
        }
    }
}

impl From<Sample> for Measured {
    fn from(sample: Sample) -> Self {
        Self {
            available_bps: sample.available.0,
            round_trip_us: sample.round_trip.as_secs_f64() * 1e6,
            streams: sample.streams,
            goodput_bps: sample.goodput.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<ModelFile> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("room");
        ModelFile::read(file.path())
    }

    #[test]
    fn what_is_written_can_be_read() {
        let fitted =
            Fitted { a: 0.001, saturation_loss: 0.5, growth: Growth::Line, a_between: [Some(0.000_9), None] };
        let switches = vec![DatapathId(1), DatapathId(6)];
        let path = |model| PathModel { switches: switches.clone(), model, samples: Vec::new() };
        let file = ModelFile::new(fitted, vec![path(Some(fitted)), path(None)]);
        let again = read(&serde_json::to_string(&file).expect("JSON")).expect("the same");
        assert_eq!(again, file);
        assert_eq!(again.paths(), BTreeMap::from([(switches, fitted.model())]));
    }

    #[test]
    fn values_that_no_network_has_are_refused() {
        for text in [
            "",
            "{}",
            r#"{"schema": "braid/v2", "network": {"a": 0.001, "saturation_loss": 0.1}}"#,
            r#"{"schema": "braid/v1", "network": {"a": 0, "saturation_loss": 0.1}}"#,
            r#"{"schema": "braid/v1", "network": {"a": 0.001, "saturation_loss": 2}}"#,
            r#"{"schema": "braid/v1", "network": {"a": 0.001, "saturation_loss": 0.1}, "paths": [{"switches": ["x"]}]}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(r#"{"schema": "braid/v1", "network": {"a": 0.001, "saturation_loss": 0.1}}"#).is_ok());
    }
}
