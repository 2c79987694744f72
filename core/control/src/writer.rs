//! What is notified to switches passes here, where it is known what they have.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use braid_types::{DatapathId, PortNo, SwitchPort};

use crate::command::{Command, Commands, Target};
use crate::installed::InstalledState;
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{ProtectedPort, Rule};
use crate::request::{Reply, Ticket};

/// Writes commands: without what switches have already, with the twins of rules, and with the protection that a rule's port
/// needs before it.
pub(crate) struct RuleWriter<'a> {
    pub(crate) commands: &'a mut Commands,
    /// What switches have of an earlier controller.
    pub(crate) installed: &'a mut InstalledState,
    pub(crate) protections: &'a mut Protections,
    /// Empty, with the memory of a transaction that was committed.
    pub(crate) spare: &'a mut Commands,
}

/// The label and the port by which a bypass is entered.
pub(crate) type BypassEntry = (Label, PortNo);

/// The protections that switches have, and what they lead to.
#[derive(Debug, Default)]
pub(crate) struct Protections {
    /// By the port and where packets come in, with the bypass that the switch was told.
    known: BTreeMap<(SwitchPort, PortNo), Option<BypassEntry>>,
    /// The bypass of each port whose rules are confirmed.
    entries: BTreeMap<SwitchPort, BypassEntry>,
    /// Whether protections have come since this was asked.
    has_new: bool,
}

impl RuleWriter<'_> {
    pub(crate) fn add(&mut self, dpid: DatapathId, rule: Rule) {
        self.push(Command::Add { dpid, rule });
    }

    pub(crate) fn delete(&mut self, dpid: DatapathId, rule: Rule) {
        self.push(Command::Delete { dpid, rule });
    }

    pub(crate) fn push(&mut self, command: Command) {
        let known = &mut Known { installed: self.installed, protections: self.protections };
        write(self.commands, known, command);
    }

    /// An empty transaction, with the memory of one that was committed: packets come faster than memory.
    pub(crate) fn blank(&mut self) -> Commands {
        std::mem::take(self.spare)
    }

    /// Writes a transaction and keeps its memory.
    pub(crate) fn commit(&mut self, mut transaction: Commands) {
        self.append(&mut transaction);
        self.discard(transaction);
    }

    /// Keeps the memory of a transaction that is not wanted.
    pub(crate) fn discard(&mut self, mut transaction: Commands) {
        transaction.clear();
        *self.spare = transaction;
    }

    /// Writes a transaction, which is empty then and keeps its memory.
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

    /// Tells the protections of a port which bypass to take, now and those that come.
    pub(crate) fn set_bypass(&mut self, at: SwitchPort, entry: Option<BypassEntry>) {
        self.protections.set_entry(at, entry);
        for ((_, from), known) in
            self.protections.known.range_mut(of_port(at)).filter(|(_, known)| **known != entry)
        {
            *known = entry;
            let protected = ProtectedPort { port: at.port, from: *from, bypass: entry };
            self.commands.push(Command::SetGuard { dpid: at.dpid, protected });
        }
    }
}

impl Protections {
    /// A switch joins with a protection.
    pub(crate) fn load(&mut self, dpid: DatapathId, protected: &ProtectedPort) {
        self.known.insert((SwitchPort::new(dpid, protected.port), protected.from), protected.bypass);
    }

    /// A switch has left.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.known.retain(|(at, _), _| at.dpid != dpid);
    }

    /// The ports that are protected, each as often as packets come in by others.
    pub(crate) fn ports(&self) -> impl Iterator<Item = SwitchPort> {
        self.known.keys().map(|(at, _)| *at)
    }

    /// The bypass that a port's protections lead to, as far as one was told.
    pub(crate) fn known_entry(&self, at: SwitchPort) -> Option<BypassEntry> {
        self.known.range(of_port(at)).find_map(|(_, entry)| *entry)
    }

    /// Protections that come are told to lead there.
    pub(crate) fn set_entry(&mut self, at: SwitchPort, entry: Option<BypassEntry>) {
        match entry {
            Some(entry) => _ = self.entries.insert(at, entry),
            None => _ = self.entries.remove(&at),
        }
    }

    /// Whether protections have come since this was asked.
    pub(crate) const fn take_new(&mut self) -> bool {
        std::mem::replace(&mut self.has_new, false)
    }

    /// The protection that a rule needs, if its switch does not have it yet.
    fn before(&mut self, command: &Command) -> Option<Command> {
        let Command::Add { dpid, rule } = command else { return None };
        let (port, from) = rule.protected()?;
        let at = SwitchPort::new(*dpid, port);
        if self.known.contains_key(&(at, from)) {
            return None;
        }
        let bypass = self.entries.get(&at).copied();
        self.known.insert((at, from), bypass);
        self.has_new = true;
        Some(Command::AddProtectedPort { dpid: *dpid, protected: ProtectedPort { port, from, bypass } })
    }
}

fn of_port(at: SwitchPort) -> RangeInclusive<(SwitchPort, PortNo)> {
    (at, PortNo(0))..=(at, PortNo::ANY)
}

/// What switches have already.
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
    if !known.installed.is_empty() && !known.installed.needs(&command) {
        return;
    }
    if let Some(protection) = known.protections.before(&command) {
        commands.push(protection);
    }
    commands.push(command);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::event::InstalledRules;
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
            out.protections.set_entry(SwitchPort::new(DPID, PortNo(7)), Some((Label(9), PortNo(8))));
            rules.into_iter().for_each(|rule| out.add(DPID, rule));
        });
        let protected =
            ProtectedPort { port: PortNo(7), from: PortNo(0), bypass: Some((Label(9), PortNo(8))) };
        assert_eq!(
            commands,
            [Command::AddProtectedPort { dpid: DPID, protected }, add(rules[0]), add(rules[1])]
        );
    }
}
