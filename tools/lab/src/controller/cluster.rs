//! A cluster of controllers in a lab: members beside the switches, in the fabric's namespace, with an etcd of their own.
//!
//! Users reach each member at a socket of the machine's first namespace. Members are killed, stopped and started again
//! while traffic runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use braid_api::NewLeader;

use super::member::{Common, Member, MemberPlan};
use super::process::Files;
use super::{Client, ControllerAddresses, ControllerSettings, MemberAddresses, etcd, leader};
use crate::agents;
use crate::certificates::Certificates;
use crate::deployed::Deployed;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::{ControllerAction, ControllerRole, Scenario};

/// The controllers of a lab that has several.
#[derive(Debug)]
pub(crate) struct Cluster {
    members: Mutex<Vec<Member>>,
}

impl Cluster {
    /// Starts etcd, and as many members as the scenario has controllers; they accept connections when this returns.
    pub(super) fn start(
        lab: &Deployed,
        scenario: &Scenario,
        (settings, certificates): (&ControllerSettings, Option<&Certificates>),
        interrupt: &Interrupt,
    ) -> Result<(Self, ControllerAddresses), LabError> {
        let store = etcd::start(lab, interrupt)?;
        let options = Files::write(lab, scenario, settings)?.options(lab, settings, certificates);
        let mut members = Vec::new();
        let reception = settings.agents.then(|| agents::prepare(lab)).transpose()?;
        let common = Common { store, options, reception };
        for place in 0..u16::from(scenario.controllers) {
            let plan = MemberPlan::new(place, settings, &common);
            members.push(Member::start(lab, plan, interrupt)?);
        }
        let addresses: Vec<_> = members.iter().map(Member::addresses).collect();
        Ok((Self { members: Mutex::new(members) }, ControllerAddresses::of(addresses)))
    }

    /// Does something to the member that has this role now. Returns its name, or nothing if none has it.
    ///
    /// # Errors
    ///
    /// The process cannot be signalled, or the leader refuses to hand over.
    pub(crate) fn act(
        &self,
        role: ControllerRole,
        action: ControllerAction,
    ) -> Result<Option<String>, LabError> {
        let mut members = self.members();
        let running = members.iter().filter(|member| member.is_running()).map(Member::addresses);
        let running: Vec<_> = running.collect();
        let Some(leads) = leader(&running) else { return Ok(None) };
        let standby = running.iter().find(|member| member.name != leads.name);
        let chosen = if role == ControllerRole::Leader { Some(leads) } else { standby };
        let Some(chosen) = chosen else { return Ok(None) };
        match action {
            ControllerAction::HandOver => hand_over(chosen)?,
            ControllerAction::Kill => of_name(&mut members, &chosen.name)?.kill()?,
            ControllerAction::Stop => of_name(&mut members, &chosen.name)?.stop()?,
        }
        Ok(Some(chosen.name.clone()))
    }

    /// Starts what was killed, and lets what was stopped go on.
    pub(crate) fn restore(&self, lab: &Deployed) -> Result<(), LabError> {
        self.members().iter_mut().try_for_each(|member| member.restore(lab))
    }

    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_name<'a>(members: &'a mut [Member], name: &str) -> Result<&'a mut Member, LabError> {
    let found = members.iter_mut().find(|member| member.addresses().name == name);
    found.ok_or_else(|| LabError::io(name, std::io::ErrorKind::NotFound.into()))
}

fn hand_over(leader: &MemberAddresses) -> Result<(), LabError> {
    let refused =
        |error| LabError::io(format!("the hand-over of {}", leader.name), std::io::Error::other(error));
    Client::new(leader.http).hand_over(&NewLeader::default()).map_err(refused)
}
