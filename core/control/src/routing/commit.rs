//! Transactions of routes and groups: submitted, committed, abandoned.

use super::default_paths::Routing;
use super::ecmp::GroupKey;
use super::next_hop::{NextHop, RouteKey};
use crate::command::{Command, Commands, HeldPacket};
use crate::context::Context;
use crate::fabric::{Fabric, Submitted, Transaction};
use crate::pipeline::Rule;

impl Routing {
    /// Commits a ready transaction, except routes that are not wanted any more.
    pub(crate) fn commit(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, mut commands: Commands) {
        self.commit_groups(cx, fabric, &mut commands);
        commands.retain(|command| match command {
            Command::Add { dpid, rule: rule @ Rule::Route { dst, .. } } => {
                let way = NextHop::of(rule);
                let group = way.and_then(NextHop::group);
                let is_ready =
                    group.is_none_or(|group| self.ecmp.is_written(GroupKey { dpid: *dpid, group }));
                is_ready && self.routes.get(*dst, *dpid) == way
            }
            _ => true,
        });
        self.write(cx, fabric, commands);
    }

    /// Takes the groups out of a ready transaction and writes them before its routes.
    fn commit_groups(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, commands: &mut Commands) {
        for command in &*commands {
            if let Command::SetEcmp { dpid, buckets, .. } = command {
                self.ecmp.commit(cx, fabric, GroupKey { dpid: *dpid, group: buckets.group }, buckets);
            }
        }
        commands.retain(|command| !matches!(command, Command::SetEcmp { .. }));
    }

    pub(super) fn submit(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, transaction: Transaction<'_>) {
        match fabric.submit(cx, transaction) {
            // Nothing can have changed since it was made.
            Submitted::Ready(mut commands) => {
                self.commit_groups(cx, fabric, &mut commands);
                self.write(cx, fabric, commands);
            }
            Submitted::Waits => {}
            Submitted::Full(commands) => self.abandon(cx, fabric, &commands),
        }
    }

    fn write(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, commands: Commands) {
        for (key, way) in routes_of(&commands) {
            self.routes.note_written(fabric, key, way);
        }
        cx.out.commit(commands);
    }

    /// Drops the routes of a transaction that does not fit. Its packets are sent directly to their hosts.
    fn abandon(&mut self, cx: &mut Context<'_>, fabric: &mut Fabric, commands: &Commands) {
        for (key, _) in routes_of(commands) {
            self.routes.take(fabric, key);
        }
        for command in commands {
            if let Command::SetEcmp { dpid, buckets, .. } = command {
                self.ecmp.abandon(fabric, GroupKey { dpid: *dpid, group: buckets.group });
            }
        }
        commands.held().for_each(|HeldPacket { frame, .. }| cx.send_to_host(frame));
    }
}

fn routes_of(commands: &Commands) -> impl Iterator<Item = (RouteKey, NextHop)> {
    commands.into_iter().filter_map(|command| match command {
        Command::Add { dpid, rule: rule @ (Rule::Route { dst, .. } | Rule::LocalRoute { dst }) } => {
            Some((RouteKey { dst: *dst, dpid: *dpid }, NextHop::of(rule)?))
        }
        _ => None,
    })
}
