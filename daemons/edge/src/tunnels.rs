//! Interfaces opened from the options, and tunnel ports with their liveness.

use std::collections::BTreeMap;

use braid_switch::{PortDescription, Switch, TunnelPort, TunnelSettings, UplinkSettings, Uplinks};
use braid_types::{PortNo, Time};

use crate::error::EdgeError;
use crate::interface::{Interface, kbps};
use crate::options::Options;

/// The tunnel ports, with the rate of each in kbit/s.
pub(crate) struct Tunnels(BTreeMap<PortNo, u32>);

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
            settings.push(TunnelSettings { port, ends: option.ends });
        }
        Ok((Uplinks::new(uplinks, &settings)?, Self(rates)))
    }

    /// Reports to the switch which tunnels are up.
    pub(crate) fn look(&self, now: Time, uplinks: &Uplinks, switch: &mut Switch) {
        for TunnelPort { number, mac, mtu, is_up: up } in uplinks.ports() {
            let (name, kbps) = (format!("gre{number}"), self.0.get(&number).copied().unwrap_or(0));
            switch.set_port(now, number, PortDescription { name, mac, up, kbps, mtu, is_tunnel: true });
        }
    }
}
