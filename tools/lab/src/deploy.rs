//! Deployment of a lab: namespaces, links, hosts, switches and their control, all or nothing.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::agents;
use crate::certificates::Certificates;
use crate::controller::{self, Cluster, Control, ControllerAddresses};
use crate::deployed::Deployed;
use crate::doctor;
use crate::edges;
use crate::error::LabError;
use crate::folder::Lock;
use crate::interrupt::Interrupt;
use crate::journal::{Entry, Journal};
use crate::links::{self, LinkProcess};
use crate::names::LabName;
use crate::ovs::OpenVSwitch;
use crate::plan::{Commands, HostPlan, Plan, quiet_ipv6};
use crate::preflight;
use crate::ready;
use crate::scenario::Scenario;
use crate::sites::Sites;
use crate::store::Labs;
use crate::system::{Marker, Namespace, kernel};
use crate::teardown::teardown;

/// A lab that is up, and removed when this is dropped, unless it is kept.
///
/// Dropping it is the one way out: after an error, an interrupt or a panic nothing is left behind.
#[derive(Debug)]
pub struct Deployment {
    pub(crate) deployed: Deployed,
    pub(crate) controller: Option<ControllerAddresses>,
    pub(crate) cluster: Option<Cluster>,
    sites: Option<Sites>,
    keep: bool,
    _lock: Lock,
}

impl Labs {
    /// Builds the network of `scenario` as the lab `name`, starts what controls it, and waits until it can carry
    /// the scenario's traffic. All of it or nothing.
    ///
    /// # Errors
    ///
    /// [`LabError::Missing`] if the machine cannot, [`LabError::Exists`] if the name is taken, [`LabError::Foreign`]
    /// if a namespace of that name is someone else's, [`LabError::Interrupted`], or what failed.
    pub fn deploy(
        &self,
        scenario: &Scenario,
        name: &LabName,
        control: &Control,
        interrupt: &Interrupt,
    ) -> Result<Deployment, LabError> {
        preflight::check(scenario, control)?;
        let has_sites = scenario.topology.sites.is_some();
        let netem = || self.may_use_netem() && doctor::has_netem();
        let plan = Plan::new(scenario, name, netem);
        let (folder, marker) = (self.folder(name), Marker::fresh()?);
        let lock = folder.create()?;
        let deployed = Deployed { folder, plan, marker };
        let mut lab =
            Deployment { deployed, controller: None, cluster: None, sites: None, keep: false, _lock: lock };
        lab.build(&self.link_process()?, interrupt)?;
        lab.control(scenario, if has_sites { &Control::None } else { control }, interrupt)?;
        lab.sites = Sites::start(&lab.deployed, &braid(control)?, interrupt)?;
        if *control != Control::None || has_sites {
            lab.wait_until_ready(scenario, interrupt)?;
        }
        lab.start_agents(control, interrupt)?;
        Ok(lab)
    }
}

impl Deployment {
    /// Leaves the lab up. It is then removed by name: [`Labs::destroy`].
    pub fn keep(mut self) {
        self.keep = true;
    }

    /// Removes the lab, and says what failed, which dropping it cannot.
    ///
    /// # Errors
    ///
    /// What could not be removed.
    pub fn destroy(mut self) -> Result<(), LabError> {
        self.keep = true;
        teardown(&self.deployed.folder).map(drop)
    }

    /// Its name.
    pub fn name(&self) -> &LabName {
        self.deployed.name()
    }

    /// Where its controller serves the page, if it has one.
    pub fn page(&self) -> Option<SocketAddr> {
        self.controller.as_ref().map(|controller| controller.http)
    }

    /// Waits until it can carry the traffic of its scenario.
    pub(crate) fn wait_until_ready(
        &self,
        scenario: &Scenario,
        interrupt: &Interrupt,
    ) -> Result<(), LabError> {
        ready::wait(&self.deployed, self.controller.as_ref(), scenario, interrupt)
    }

    /// Starts the sites anew, if there are any: they forget what they know of their lines.
    pub(crate) fn restart_sites(&self, scenario: &Scenario, interrupt: &Interrupt) -> Result<(), LabError> {
        let Some(sites) = &self.sites else { return Ok(()) };
        sites.restart(&self.deployed, interrupt)?;
        self.wait_until_ready(scenario, interrupt)
    }

    fn build(&mut self, links: &LinkProcess, interrupt: &Interrupt) -> Result<(), LabError> {
        let mut journal = Journal::create(&self.deployed.folder.journal())?;
        journal.write(&[Entry::Marker(self.deployed.marker.clone())])?;
        self.deployed.folder.furnish()?;
        self.deployed.folder.write_plan(&self.deployed.plan)?;
        self.make_namespaces(&mut journal)?;
        interrupt.check()?;
        self.lay_links()?;
        interrupt.check()?;
        links::start(&self.deployed, links, interrupt)?;
        self.set_up_hosts()?;
        interrupt.check()?;
        self.make_switches()
    }

    fn make_namespaces(&self, journal: &mut Journal) -> Result<(), LabError> {
        if let Some(taken) = self.deployed.plan.namespaces().find(|name| Namespace::named(name).exists()) {
            return Err(LabError::Foreign(taken));
        }
        let entries: Vec<_> = self.deployed.plan.namespaces().map(Entry::Namespace).collect();
        journal.write(&entries)?;
        self.deployed
            .tool("ip")
            .args(["-batch", "-"])
            .input(Commands(&self.deployed.plan).namespaces())
            .run()?;
        // Interfaces take these over when they are made.
        self.deployed.fabric().set(&quiet_ipv6())?;
        let own = self.links_namespace().into_iter();
        let mut own = own.chain(self.deployed.plan.underlay_namespaces().map(Namespace::named));
        own.try_for_each(|namespace| namespace.set(&quiet_ipv6()))?;
        let mut hosts = self.deployed.plan.hosts.iter();
        hosts.try_for_each(|host| {
            let allowed = host.kernel_control().filter(|name| kernel::allows_control(name));
            let control = allowed.map(HostPlan::default_control);
            let parameters: Vec<_> = host.parameters().into_iter().chain(control).collect();
            Namespace::named(&host.namespace).set(&parameters)
        })
    }

    fn lay_links(&self) -> Result<(), LabError> {
        let (commands, fabric) = (Commands(&self.deployed.plan), self.deployed.fabric());
        self.deployed.tool("ip").args(["-batch", "-"]).input(commands.links()).run()?;
        self.lay_tunnels()?;
        self.deployed
            .tool("ip")
            .args(["-batch", "-"])
            .input(commands.fabric_links())
            .within(&fabric)
            .run()?;
        let Some(namespace) = self.links_namespace() else { return Ok(()) };
        self.deployed
            .tool("ip")
            .args(["-batch", "-"])
            .input(commands.user_space_links())
            .within(&namespace)
            .run()
            .map(drop)
    }

    fn lay_tunnels(&self) -> Result<(), LabError> {
        for name in self.deployed.plan.underlay_namespaces() {
            let (namespace, tunnels) =
                (Namespace::named(&name), Commands(&self.deployed.plan).tunnels(&name));
            self.deployed.tool("ip").args(["-batch", "-"]).input(tunnels).within(&namespace).run()?;
            self.shape(&namespace, &name)?;
        }
        let mut devices = self.deployed.plan.tunnel_devices();
        devices.try_for_each(|device| {
            // Open vSwitch passes on no frame that is longer than those that were sent.
            let merging = self.deployed.tool("ethtool").args(["-K", device, "gro", "off"]);
            merging.within(&self.deployed.fabric()).run().map(drop)
        })
    }

    /// Where links in user space have their ends, if there are any.
    fn links_namespace(&self) -> Option<Namespace> {
        let any = self.deployed.plan.user_space().next().is_some();
        any.then(|| Namespace::named(self.deployed.plan.lab.links_namespace()))
    }

    fn shape(&self, namespace: &Namespace, name: &str) -> Result<(), LabError> {
        let text = Commands(&self.deployed.plan).shapers(name);
        self.deployed.tool("tc").args(["-batch", "-"]).input(text).within(namespace).run().map(drop)
    }

    fn set_up_hosts(&self) -> Result<(), LabError> {
        self.deployed.plan.hosts.iter().try_for_each(|host| self.set_up_host(host))
    }

    fn set_up_host(&self, host: &HostPlan) -> Result<(), LabError> {
        let namespace = Namespace::named(&host.namespace);
        let text = Commands(&self.deployed.plan).host(host);
        self.deployed.tool("ip").args(["-batch", "-"]).input(text).within(&namespace).run()?;
        if let Some(name) = host.kernel_control().filter(|name| !kernel::allows_control(name)) {
            let text = Commands(&self.deployed.plan).congestion_control(host, name);
            self.deployed.tool("ip").args(["-batch", "-"]).input(text).within(&namespace).run()?;
        }
        for interface in host.interfaces.iter().filter(|it| !it.offloads.is_empty()) {
            // Open vSwitch and links in user space pass frames on as they are: the checksum has to be there already.
            self.deployed
                .tool("ethtool")
                .args(["-K", &interface.name])
                .args(&interface.offloads)
                .within(&namespace)
                .run()?;
        }
        self.shape(&namespace, &host.namespace)
    }

    fn make_switches(&self) -> Result<(), LabError> {
        if self.deployed.plan.bridges().next().is_some() {
            let ovs = OpenVSwitch::new(&self.deployed.folder, &self.deployed.marker);
            ovs.start(&self.deployed.fabric())?;
            ovs.make_bridges(&self.deployed.plan)?;
            ovs.deepen_buffers(&self.deployed.plan)?;
        }
        // Only now: Open vSwitch removes the queueing discipline of an interface that becomes its port.
        self.shape(&self.deployed.fabric(), &self.deployed.plan.fabric)
    }

    fn control(
        &mut self,
        scenario: &Scenario,
        control: &Control,
        interrupt: &Interrupt,
    ) -> Result<(), LabError> {
        match control {
            Control::None => edges::start(&self.deployed, None, interrupt),
            Control::Rules(rules) => {
                edges::start(&self.deployed, None, interrupt)?;
                self.add_rules(rules)
            }
            Control::Braid(settings) => {
                let certificates = self.certificates(scenario)?;
                let certificates = certificates.as_ref();
                let (cluster, addresses) =
                    controller::start(&self.deployed, scenario, (settings, certificates), interrupt)?;
                self.cluster = cluster;
                self.deployed.folder.write_controller(&addresses)?;
                let targets = addresses.for_switches();
                if self.deployed.plan.bridges().next().is_some() {
                    let ovs = OpenVSwitch::new(&self.deployed.folder, &self.deployed.marker);
                    ovs.set_controllers(&self.deployed.plan, &targets, certificates)?;
                }
                edges::start(&self.deployed, Some((&targets, certificates)), interrupt)?;
                self.controller = Some(addresses);
                Ok(())
            }
        }
    }

    fn certificates(&self, scenario: &Scenario) -> Result<Option<Certificates>, LabError> {
        let folder = self.deployed.folder.certificates();
        scenario.tls.then(|| Certificates::issue(&folder, &self.deployed.plan)).transpose()
    }

    fn start_agents(&self, control: &Control, interrupt: &Interrupt) -> Result<(), LabError> {
        let braid = braid(control)?;
        let controllers = self.controller.as_ref().map(ControllerAddresses::for_agents).unwrap_or_default();
        agents::start(&self.deployed, &braid, &controllers, interrupt)
    }

    fn add_rules(&self, rules: &BTreeMap<String, Vec<String>>) -> Result<(), LabError> {
        let ovs = OpenVSwitch::new(&self.deployed.folder, &self.deployed.marker);
        rules.iter().try_for_each(|(switch, rules)| match edges::address(&self.deployed.plan, switch) {
            Some(address) => edges::add_rules(&self.deployed, address, rules),
            None => ovs.add_rules(switch, rules),
        })
    }
}

/// The `braid` program.
fn braid(control: &Control) -> Result<PathBuf, LabError> {
    match control {
        Control::Braid(settings) => Ok(settings.executable.clone()),
        _ => std::env::current_exe().map_err(|error| LabError::io("the path of this program", error)),
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(error) = teardown(&self.deployed.folder) {
            tracing::error!(lab = %self.deployed.plan.lab, %error, "the lab could not be removed");
        }
    }
}
