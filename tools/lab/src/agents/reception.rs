//! The management network of agents: a link of link-local addresses from each host to the fabric's namespace, which
//! carries nothing else, and a token for each agent.

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::deployed::Deployed;
use crate::error::LabError;
use crate::plan::HostPlan;
use crate::system::{Marker, Namespace};

/// The address of all controllers for agents.
const CONTROLLER: Ipv4Addr = Ipv4Addr::new(169, 254, 0, 1);
/// The host's end of its link.
const DEVICE: &str = "management";

/// What controllers need to serve agents.
pub(crate) struct Reception {
    /// The file with their tokens.
    pub(crate) tokens: PathBuf,
}

impl Reception {
    /// The address on which a controller serves them; port 0: any.
    pub(crate) const fn address(port: u16) -> SocketAddr {
        SocketAddr::new(IpAddr::V4(CONTROLLER), port)
    }
}

/// Makes the links and the tokens.
pub(crate) fn prepare(lab: &Deployed) -> Result<Reception, LabError> {
    add_links(lab)?;
    let mut tokens = String::new();
    for (number, host) in hosts(lab) {
        let token = Marker::fresh()?;
        write_secret(&token_file(lab, number), token.value())?;
        tokens.push_str(&entry(host, token.value()));
    }
    let file = lab.folder.path.join("agents.toml");
    write_secret(&file, &tokens)?;
    Ok(Reception { tokens: file })
}

fn hosts(lab: &Deployed) -> impl Iterator<Item = (usize, &HostPlan)> {
    lab.plan.hosts.iter().enumerate().filter(|(_, host)| host.uses_mptcp())
}

fn add_links(lab: &Deployed) -> Result<(), LabError> {
    let (mut pairs, mut fabric) = (String::new(), String::new());
    let batch = || lab.tool("ip").args(["-batch", "-"]);
    for (number, host) in hosts(lab) {
        let end = format!("m.{number}");
        pairs += &format!(
            "link add {end} netns {} type veth peer name {DEVICE} netns {}\n",
            lab.plan.fabric, host.namespace
        );
        fabric += &point_to_point(CONTROLLER, address(number), &end);
    }
    batch().input(pairs).run()?;
    batch().input(fabric).within(&lab.fabric()).run()?;
    for (number, host) in hosts(lab) {
        let text = point_to_point(address(number), CONTROLLER, DEVICE);
        batch().input(text).within(&Namespace::named(&host.namespace)).run()?;
    }
    Ok(())
}

/// For `ip -batch`: one end of a pair. Not as `peer`: with arp_ignore the kernel answers no ARP for such an address.
fn point_to_point(own: Ipv4Addr, other: Ipv4Addr, device: &str) -> String {
    format!(
        "link set {device} up\naddress add {own}/32 dev {device}\nroute add {other}/32 dev {device} src {own}\n"
    )
}

/// A host's address for the controller; there are fewer hosts than these.
fn address(number: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes();
    Ipv4Addr::new(169, 254, high.saturating_add(1), low)
}

/// An agent in the controller's token file: it may ask about its host's addresses.
fn entry(host: &HostPlan, token: &str) -> String {
    let addresses = host.interfaces.iter().flat_map(|interface| &interface.addresses);
    let addresses: Vec<_> = addresses.map(|cidr| format!("\"{}\"", cidr.address)).collect();
    format!(
        "[[agent]]\nname = \"{}\"\ntoken = \"{token}\"\naddresses = [{}]\n\n",
        host.name,
        addresses.join(", ")
    )
}

/// The file with the token of the host of this number.
pub(super) fn token_file(lab: &Deployed, number: usize) -> PathBuf {
    lab.folder.path.join(format!("agent-{number}.token"))
}

fn write_secret(path: &Path, text: &str) -> Result<(), LabError> {
    let file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| LabError::file(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_an_address_of_its_own_that_is_not_the_controller_s() {
        let all: std::collections::BTreeSet<_> = (0..2_000).map(address).collect();
        assert_eq!(all.len(), 2_000);
        assert!(!all.contains(&CONTROLLER) && all.iter().all(Ipv4Addr::is_link_local));
    }
}
