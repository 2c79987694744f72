//! A lab as the controller's testbed, whose links the page can change.

use std::time::Duration;

use braid_api::{LinkChange, NewTestbedLink, TestbedEnd, TestbedLink};
use braid_controller::{Testbed, TestbedError};
use braid_lab::{LabError, LabName, Labs, LinkEdit, LinkEnd, LinkInspection, WhichLink};
use braid_link_model::{Change, Delay, Probability};
use braid_types::{BitsPerSec, SwitchPort};

/// The lab of this name.
#[derive(Debug)]
pub(crate) struct LabTestbed(pub(crate) LabName);

impl Testbed for LabTestbed {
    fn links(&self) -> Result<Vec<TestbedLink>, String> {
        let links = Labs::system().links(&self.0).map_err(|error| error.to_string())?;
        Ok(links.into_iter().map(link).collect())
    }

    fn change(&self, ends: [&str; 2], change: LinkChange) -> Result<TestbedLink, TestbedError> {
        Labs::system().change_link(&self.0, &which(ends), &edit(change)).map(link).map_err(|it| refusal(&it))
    }

    fn add(&self, between: [&str; 2], new: NewTestbedLink) -> Result<TestbedLink, TestbedError> {
        let NewTestbedLink { rate_bps, delay_us, loss } = new;
        let properties = way(Some(rate_bps), delay_us, loss);
        Labs::system().add_link(&self.0, between, &properties).map(link).map_err(|it| refusal(&it))
    }

    fn remove(&self, ends: [&str; 2]) -> Result<TestbedLink, TestbedError> {
        Labs::system().remove_link(&self.0, &which(ends)).map(link).map_err(|it| refusal(&it))
    }
}

fn which([from, to]: [&str; 2]) -> WhichLink {
    WhichLink { from: from.to_owned(), to: to.to_owned(), nth: None }
}

fn edit(LinkChange { up, rate_bps, delay_us, loss }: LinkChange) -> LinkEdit {
    LinkEdit { directions: [way(rate_bps, delay_us, loss); 2], up }
}

fn way(rate_bps: Option<u64>, delay_us: Option<u64>, loss: Option<f64>) -> Change {
    Change {
        rate: rate_bps.map(BitsPerSec),
        delay: delay_us.and_then(|micros| Delay::new(Duration::from_micros(micros))),
        loss: loss.and_then(Probability::new),
        ..Change::default()
    }
}

fn link(LinkInspection { up, ends, .. }: LinkInspection) -> TestbedLink {
    TestbedLink { up, ends: ends.map(end) }
}

fn end(LinkEnd { name, dpid, port, parameters, .. }: LinkEnd) -> TestbedEnd {
    TestbedEnd {
        name,
        at: dpid.zip(port).map(|(dpid, port)| SwitchPort::new(dpid, port)),
        rate_bps: parameters.rate.map(|rate| rate.0),
        delay_us: parameters.delay.duration().as_nanos() as f64 / 1e3,
        loss: parameters.loss.share(),
    }
}

fn refusal(error: &LabError) -> TestbedError {
    let text = error.to_string();
    match error {
        LabError::NoLink { .. } | LabError::NoSwitch { .. } => TestbedError::NoLink(text),
        LabError::ManyLinks { .. }
        | LabError::FixedLink { .. }
        | LabError::Parameters(_)
        | LabError::Busy(_)
        | LabError::Refused(_) => TestbedError::Refused(text),
        _ => TestbedError::Failed(text),
    }
}
