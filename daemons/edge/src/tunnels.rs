//! Interfaces opened from the options, and tunnel ports with their liveness.

use std::collections::{BTreeMap, BTreeSet};

use braid_switch::{PortDescription, Switch, TunnelPort, TunnelSettings, UplinkSettings, Uplinks};
use braid_types::{PortNo, Time};
use tracing::{info, warn};

use crate::error::EdgeError;
use crate::interface::{Interface, kbps};
use crate::options::Options;

/// The tunnel ports.
pub(crate) struct Tunnels {
    /// The rate of each in kbit/s.
    rates: BTreeMap<PortNo, u32>,
    /// Those that TCP crosses without GRE, as was logged last.
    rewriting: BTreeSet<PortNo>,
}

/// Opens the interfaces of ports and uplinks, each once; uplinks in the order of their numbers.
pub(crate) fn open(options: &Options) -> Result<(Vec<Interface>, Vec<UplinkSettings>), EdgeError> {
    let mut interfaces: Vec<Interface> = Vec::new();
    for (place, option) in (1..).zip(&options.ports) {
        let number = Some(option.number.unwrap_or(PortNo(place)));
        if let Some(other) = interfaces.iter().find(|other| other.number == number) {
            return Err(EdgeError::SameNumber(other.device.clone(), option.device.clone()));
        }
        let mut interface = Interface::open(&option.device, option.rate)?;
        interface.number = number;
        interfaces.push(interface);
    }
    let mut uplinks: Vec<UplinkSettings> = Vec::new();
    for option in &options.uplinks {
        let known = interfaces.iter().position(|it| it.device == option.device);
        let place = match known {
            Some(place) => place,
            None => {
                interfaces.push(Interface::open(&option.device, None)?);
                interfaces.len() - 1
            }
        };
        let Some(interface) = interfaces.get_mut(place) else { continue };
        let uplink = *interface.uplink.get_or_insert_with(|| {
            uplinks.push(UplinkSettings::default());
            uplinks.len() - 1
        });
        uplinks.get_mut(uplink).into_iter().for_each(|it| it.addresses.push(option.address));
    }
    Ok((interfaces, uplinks))
}

impl Tunnels {
    /// The tunnels of the options.
    pub(crate) fn over(uplinks: &[UplinkSettings], options: &Options) -> Result<(Uplinks, Self), EdgeError> {
        let (mut settings, mut rates) = (Vec::new(), BTreeMap::new());
        let first = u32::try_from(options.ports.len()).unwrap_or(u32::MAX).saturating_add(1);
        for (place, option) in (first..).zip(&options.tunnels) {
            let port = option.number.unwrap_or(PortNo(place));
            let taken = options.ports.iter().zip(1..);
            let mut taken = taken.filter(|(it, place)| it.number.unwrap_or(PortNo(*place)) == port);
            if let Some((other, _)) = taken.next() {
                let what = format!("the tunnel to {}", option.ends.dst);
                return Err(EdgeError::SameNumber(other.device.clone(), what));
            }
            rates.insert(port, kbps(option.rate));
            settings.push(TunnelSettings { port, ends: option.ends, rewrites: options.rewrite });
        }
        Ok((Uplinks::new(uplinks, &settings)?, Self { rates, rewriting: BTreeSet::new() }))
    }

    /// Reports to the switch which tunnels are up, and logs which of them are crossed without GRE from now on.
    pub(crate) fn look(&mut self, now: Time, uplinks: &Uplinks, switch: &mut Switch) {
        for TunnelPort { number, mac, mtu, segment_mtu, is_up: up } in uplinks.ports(now) {
            let (name, kbps) = (format!("gre{number}"), self.rates.get(&number).copied().unwrap_or(0));
            self.log_rewriting(number, uplinks.is_rewriting(now, number));
            let description = PortDescription { name, mac, up, kbps, mtu, segment_mtu, is_tunnel: true };
            switch.set_port(now, number, description);
        }
    }

    fn log_rewriting(&mut self, port: PortNo, is_rewriting: bool) {
        if is_rewriting && self.rewriting.insert(port) {
            info!(%port, "TCP crosses the tunnel without GRE");
        } else if !is_rewriting && self.rewriting.remove(&port) {
            warn!(%port, "all is in GRE: the other edge does not rewrite, or what is rewritten does not arrive");
        }
    }
}
