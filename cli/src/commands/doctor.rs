//! `braid doctor`: features that labs need on this machine, with remedies.

use braid_lab::doctor::{Backends, Check, Report, State, examine};

use crate::exit::{self, Code};
use crate::output;
use crate::table::table;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let report = examine();
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&text(&report))?;
    }
    let lacking = report.checks.iter().filter(|check| check.needed && check.state != State::Ok);
    let lacking: Vec<_> = lacking.map(|check| check.name).collect();
    match report.ok {
        true => Ok(()),
        false => Err(exit::error(
            Code::Machine,
            format!("labs cannot run here for want of: {}", lacking.join(", ")),
        )),
    }
}

/// How BFD is turned on. docs/reliability.md explains it.
const BFD: &str = "
Links that go dark are noticed within 0.1 s by BFD, which the controller turns on in Open vSwitch's database:
  on each switch: ovs-vsctl set-manager ptcp:6640:ADDRESS
  braid controller run --ovsdb tcp:ADDRESS:6640
  or by hand at both ends: ovs-vsctl set interface INTERFACE bfd:enable=true bfd:min_rx=25 bfd:min_tx=25
";

/// How OpenFlow over TLS is set up. docs/security.md explains each command.
const TLS: &str = "
OpenFlow over TLS, for a switch with datapath id 1:
  ovs-pki init
  ovs-pki -u req+sign ctl controller
  ovs-pki -u req+sign 0000000000000001 switch
  braid controller run --openflow 0.0.0.0:6653 --openflow-tls required \\
    --openflow-tls-certificate ctl-cert.pem --openflow-tls-key ctl-privkey.pem \\
    --openflow-tls-ca /var/lib/openvswitch/pki/switchca/cacert.pem
  on the switch: ovs-vsctl set-ssl $PWD/0000000000000001-privkey.pem $PWD/0000000000000001-cert.pem \\
    /var/lib/openvswitch/pki/controllerca/cacert.pem -- set-controller BRIDGE ssl:CONTROLLER:6653
";

fn text(report: &Report) -> String {
    let rows = report.checks.iter().map(|check| {
        let needed = if check.needed { "yes" } else { "no" };
        [check.name, state(check.state), needed, &check.detail].map(str::to_owned)
    });
    let fixes: String = report.checks.iter().filter_map(fix).collect();
    table(["FEATURE", "STATE", "NEEDED", "FOUND"], rows)
        + "\n"
        + &fixes
        + &backends(&report.backends)
        + TLS
        + BFD
}

fn fix(check: &Check) -> Option<String> {
    let fix = check.fix.as_deref()?;
    Some(format!("{} is for {}: {fix}\n", check.name, check.purpose))
}

fn backends(backends: &Backends) -> String {
    let Backends { datapath, rate, delay, path_managers } = backends;
    let or_not = |backend: &Option<&'static str>| backend.unwrap_or("not available");
    let path_managers = if path_managers.is_empty() { "not available" } else { &path_managers.join(", ") };
    format!(
        "\nswitches: {}\nlink rate: {}\nlink delay, jitter, loss: {}\nMPTCP path managers: {path_managers}\n",
        or_not(datapath),
        or_not(rate),
        or_not(delay),
    )
}

const fn state(state: State) -> &'static str {
    match state {
        State::Ok => "ok",
        State::Missing => "missing",
        State::Unusable => "unusable",
    }
}
