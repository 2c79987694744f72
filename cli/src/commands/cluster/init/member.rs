//! A member on the command line: its name, and the name or address of its machine.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use braid_controller::AdvertisedAddress;

use crate::exit::{Code, error};

/// One member of the cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// A name or an address, without brackets.
    pub(super) host: String,
}

impl Member {
    /// What its certificate is for.
    pub(super) fn names(&self) -> Vec<&str> {
        // etcd compares a certificate with the address that a connection comes from.
        let is_loopback = self.host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        let from = is_loopback.then_some("127.0.0.1").filter(|from| self.host != *from);
        [&*self.name, &*self.host].into_iter().chain(from).collect()
    }

    /// Where others reach a service of its machine.
    pub(super) fn at(&self, port: u16) -> String {
        match self.host.parse::<IpAddr>() {
            Ok(address) => SocketAddr::new(address, port).to_string(),
            Err(_) => format!("{}:{port}", self.host),
        }
    }

    /// Where the service listens: at the machine's address, if that is known.
    pub(super) fn listens_at(&self, port: u16) -> String {
        match self.host.parse::<IpAddr>() {
            Ok(address) => SocketAddr::new(address, port).to_string(),
            Err(_) => format!("0.0.0.0:{port}"),
        }
    }
}

impl FromStr for Member {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, host) = text.split_once('=').ok_or("give NAME=HOST")?;
        let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
        let member = Self { name: word(name)?, host: bare.to_owned() };
        match member.at(1).parse::<AdvertisedAddress>() {
            Ok(_) => Ok(member),
            Err(_) => Err(format!("{host:?} is no name or address of a machine")),
        }
    }
}

/// A name that may be that of a file, in a certificate and in etcd.
pub(super) fn word(text: &str) -> Result<String, String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !text.is_empty() && text.len() <= 63 && text.bytes().all(is_word) {
        return Ok(text.to_owned());
    }
    Err(format!("{text:?} is no name: use 1 to 63 letters, digits, - and _"))
}

/// Checks that members are different.
pub(super) fn check(members: &[Member]) -> anyhow::Result<()> {
    let names: BTreeSet<_> = members.iter().map(|member| member.name.to_ascii_lowercase()).collect();
    let hosts: BTreeSet<_> = members.iter().map(|member| &member.host).collect();
    if names.contains(super::SWITCHES) {
        return Err(error(
            Code::Usage,
            "switches is the folder of the switches: give that member another name",
        ));
    }
    if names.len() < members.len() || hosts.len() < members.len() {
        return Err(error(Code::Usage, "give each member a name and a machine of its own"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_names_with_hosts() {
        let six: Member = "one=[2001:db8::1]".parse().expect("an address");
        assert_eq!((six.at(7), six.listens_at(7)), ("[2001:db8::1]:7".into(), "[2001:db8::1]:7".into()));
        let named: Member = "two=two.example.net".parse().expect("a name");
        assert_eq!((named.at(7), named.listens_at(7)), ("two.example.net:7".into(), "0.0.0.0:7".into()));
        for wrong in ["one", "=1.2.3.4", "a b=1.2.3.4", "one=", "one=0.0.0.0", "../x=1.2.3.4", "one=a/b"] {
            assert!(wrong.parse::<Member>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn two_members_of_one_name_or_machine_are_refused() {
        let members = |texts: [&str; 2]| texts.map(|text| text.parse::<Member>().expect("a member"));
        assert!(check(&members(["a=1.2.3.4", "b=1.2.3.5"])).is_ok());
        for wrong in
            [["a=1.2.3.4", "A=1.2.3.5"], ["a=1.2.3.4", "b=1.2.3.4"], ["a=1.2.3.4", "switches=1.2.3.5"]]
        {
            assert!(check(&members(wrong)).is_err(), "{wrong:?}");
        }
    }
}
