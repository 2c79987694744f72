//! The rule writer: commands pass it, and it omits rules that are installed already.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::barrier::Barrier;
use crate::command::{Command, Commands, Target};
use crate::installed::InstalledState;
use crate::notice::Notice;
use crate::pipeline::{BypassEntry, ProtectedPort, Protection, Rule};
use crate::request::{Reply, Ticket};

/// Writes commands. Omits rules that are installed, adds the twins of rules, and protects a rule's port first
/// where needed.
pub(crate) struct RuleWriter<'a> {
    pub(crate) commands: &'a mut Commands,
    /// The installed state of an earlier controller.
    pub(crate) installed: &'a mut InstalledState,
    pub(crate) protections: &'a mut Protections,
    /// Empty, with the memory of a committed transaction.
    pub(crate) spare: &'a mut Commands,
}

/// The protected ports of switches, and their bypasses.
#[derive(Debug, Default)]
pub(crate) struct Protections {
    /// By port and ingress port, the bypass that the switch has.
    known: BTreeMap<(SwitchPort, PortNo), Option<BypassEntry>>,
    /// The confirmed bypass of each port.
    entries: BTreeMap<SwitchPort, BypassEntry>,
    /// Whether protected ports were added since the last [`Self::take_new`].
    has_new: bool,
}

impl RuleWriter<'_> {
    pub(crate) fn add(&mut self, dpid: DatapathId, rule: Rule) {
        self.push(Command::Add { dpid, rule });
    }

    pub(crate) fn delete(&mut self, dpid: DatapathId, rule: Rule) {
        self.push(Command::Delete { dpid, rule });
    }

    pub(crate) fn barrier(&mut self, Barrier { dpid, token }: Barrier) {
        self.push(Command::Barrier { dpid, token });
    }

    pub(crate) fn push(&mut self, command: Command) {
        let known = &mut Known { installed: self.installed, protections: self.protections };
        write(self.commands, known, command);
    }

    /// An empty transaction with the memory of a committed one, which saves allocations at high packet rates.
    pub(crate) fn blank(&mut self) -> Commands {
        std::mem::take(self.spare)
    }

    /// Writes a transaction and keeps its memory.
    pub(crate) fn commit(&mut self, mut transaction: Commands) {
        self.append(&mut transaction);
        self.discard(transaction);
    }

    /// Keeps the memory of an unwanted transaction.
    pub(crate) fn discard(&mut self, mut transaction: Commands) {
        transaction.clear();
        *self.spare = transaction;
    }

    /// Writes a transaction, which is then empty and keeps its memory.
    pub(crate) fn append(&mut self, transaction: &mut Commands) {
        let Self { commands, installed, protections, .. } = self;
        let known = &mut Known { installed, protections };
        commands.absorb(transaction, |commands, command| write(commands, known, command));
    }

    pub(crate) fn send(&mut self, dpid: DatapathId, target: Target, frame: &[u8]) {
        self.commands.send(dpid, target, frame);
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        self.commands.notice(notice);
    }

    pub(crate) fn reply(&mut self, ticket: Ticket, reply: Reply) {
        self.commands.reply(ticket, reply);
    }

    /// Sets the bypass of a protected port, for existing groups and for later ones.
    pub(crate) fn set_bypass(&mut self, at: SwitchPort, entry: Option<BypassEntry>) {
        self.protections.set_entry(at, entry);
        for ((_, from), known) in
            self.protections.known.range_mut(of_port(at)).filter(|(_, known)| **known != entry)
        {
            *known = entry;
            let protected = ProtectedPort { port: at.port, from: *from, bypass: entry };
            self.commands.push(Command::SetProtectedPort { dpid: at.dpid, protected });
        }
    }
}

impl Protections {
    /// A switch joins with this protected port.
    pub(crate) fn load(&mut self, dpid: DatapathId, protected: &ProtectedPort) {
        self.known.insert((SwitchPort::new(dpid, protected.port), protected.from), protected.bypass);
    }

    /// A switch has left.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        let (first, last) = SwitchPort::all_of(dpid).into_inner();
        self.known.extract_if((first, PortNo(0))..=(last, PortNo::ANY), |_, _| true).for_each(drop);
    }

    /// The protected ports, once for each ingress port.
    pub(crate) fn ports(&self) -> impl Iterator<Item = SwitchPort> {
        self.known.keys().map(|(at, _)| *at)
    }

    /// The bypass in a port's installed groups, if there is one.
    pub(crate) fn known_entry(&self, at: SwitchPort) -> Option<BypassEntry> {
        self.known.range(of_port(at)).find_map(|(_, entry)| *entry)
    }

    /// Sets the bypass for groups that are added later.
    pub(crate) fn set_entry(&mut self, at: SwitchPort, entry: Option<BypassEntry>) {
        match entry {
            Some(entry) => _ = self.entries.insert(at, entry),
            None => _ = self.entries.remove(&at),
        }
    }

    /// Whether protected ports were added since the last call.
    pub(crate) const fn take_new(&mut self) -> bool {
        std::mem::replace(&mut self.has_new, false)
    }

    /// Writes the protected ports that a rule or a group needs and its switch does not have yet.
    fn write_before(&mut self, commands: &mut Commands, command: &Command) {
        match command {
            Command::Add { dpid, rule } => self.protect(commands, *dpid, rule.protected()),
            Command::SetEcmp { dpid, buckets, .. } => {
                buckets.hops.iter().for_each(|hop| self.protect(commands, *dpid, hop.protected()));
            }
            _ => {}
        }
    }

    fn protect(&mut self, commands: &mut Commands, dpid: DatapathId, needed: Option<Protection>) {
        let Some(Protection { port, from }) = needed else { return };
        let at = SwitchPort::new(dpid, port);
        if self.known.contains_key(&(at, from)) {
            return;
        }
        let bypass = self.entries.get(&at).copied();
        self.known.insert((at, from), bypass);
        self.has_new = true;
        commands.push(Command::AddProtectedPort { dpid, protected: ProtectedPort { port, from, bypass } });
    }
}

fn of_port(at: SwitchPort) -> RangeInclusive<(SwitchPort, PortNo)> {
    (at, PortNo(0))..=(at, PortNo::ANY)
}

/// The state that switches have already.
struct Known<'a> {
    installed: &'a mut InstalledState,
    protections: &'a mut Protections,
}

fn write(commands: &mut Commands, known: &mut Known<'_>, command: Command) {
    let twin = command.twin();
    write_one(commands, known, command);
    if let Some(twin) = twin {
        write_one(commands, known, twin);
    }
}

fn write_one(commands: &mut Commands, known: &mut Known<'_>, command: Command) {
    if !known.installed.needs(&command) {
        return;
    }
    known.protections.write_before(commands, &command);
    commands.push(command);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::event::InstalledRules;
    use crate::label::Label;
    use crate::pipeline::{Exit, Hop};

    const DPID: DatapathId = DatapathId(1);

    fn written(installed: &mut InstalledState, write: impl FnOnce(&mut RuleWriter<'_>)) -> Vec<Command> {
        let [mut commands, mut spare] = [(); 2].map(|()| Commands::default());
        let mut protections = Protections::default();
        write(&mut RuleWriter {
            commands: &mut commands,
            installed,
            protections: &mut protections,
            spare: &mut spare,
        });
        commands.iter().cloned().collect()
    }

    fn add(rule: Rule) -> Command {
        Command::Add { dpid: DPID, rule }
    }

    #[test]
    fn twins_follow_their_rules_in_transactions_too() {
        let route = Rule::LocalRoute { dst: Ipv4Addr::LOCALHOST.into() };
        let twin = route.twin().expect("a route of IPv4 has one");
        let commands = written(&mut InstalledState::default(), |out| {
            out.add(DPID, Rule::Lldp);
            out.add(DPID, route);
            let mut transaction = Commands::default();
            transaction.add(DPID, route);
            transaction.add(DPID, Rule::Arp);
            out.append(&mut transaction);
        });
        assert_eq!(commands, [Rule::Lldp, route, twin, route, twin, Rule::Arp].map(add));
    }

    #[test]
    fn a_rule_that_a_switch_has_is_not_written_and_goes_if_it_is_not_wanted() {
        let mut installed = InstalledState::default();
        let found = InstalledRules { rules: vec![Rule::Lldp, Rule::Arp], ..InstalledRules::default() };
        installed.add(DPID, &found, braid_types::Time::ZERO);
        let commands = written(&mut installed, |out| out.add(DPID, Rule::Lldp));
        assert_eq!(commands, []);
        assert_eq!(installed.finish(), [(DPID, Rule::Arp)]);
    }

    #[test]
    fn a_port_is_protected_before_the_first_rule_that_needs_it() {
        let exit = Exit::Protected { from: PortNo(0) };
        let rules = [1, 2].map(|label| Rule::Transit(Hop { label: Label(label), port: PortNo(7), exit }));
        let commands = written(&mut InstalledState::default(), |out| {
            out.protections.set_entry(
                SwitchPort::new(DPID, PortNo(7)),
                Some(BypassEntry { label: Label(9), port: PortNo(8) }),
            );
            rules.into_iter().for_each(|rule| out.add(DPID, rule));
        });
        let protected = ProtectedPort {
            port: PortNo(7),
            from: PortNo(0),
            bypass: Some(BypassEntry { label: Label(9), port: PortNo(8) }),
        };
        assert_eq!(
            commands,
            [Command::AddProtectedPort { dpid: DPID, protected }, add(rules[0]), add(rules[1])]
        );
    }
}
