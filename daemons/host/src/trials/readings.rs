//! The kernel's counters by connection.

use std::collections::BTreeMap;

use braid_api::SubflowEnds;
use braid_subflows::{Reading, Subflow};

use crate::diag::{ConnectionInfo, SubflowInfo};
use crate::pm::Token;

/// Readings of the connections. A subflow that somebody else has made a backup does not take part.
pub(super) fn of(
    connections: &[ConnectionInfo],
    subflows: &[SubflowInfo],
    is_suspended: impl Fn(Token, SubflowEnds) -> bool,
) -> BTreeMap<Token, Reading<SubflowEnds>> {
    let reading = |it: &ConnectionInfo| Reading {
        acknowledged: it.acknowledged,
        is_greedy: it.unsent > 0,
        subflows: Vec::new(),
    };
    let mut readings: BTreeMap<_, _> = connections.iter().map(|it| (it.token, reading(it))).collect();
    for it in subflows.iter().filter(|it| !it.is_backup || is_suspended(it.token, it.ends)) {
        let Some(reading) = readings.get_mut(&it.token) else { continue };
        reading.is_greedy |= it.unsent > 0;
        reading.subflows.push(Subflow {
            id: it.ends,
            acknowledged: it.acknowledged,
            sent: it.sent,
            retransmitted: it.retransmitted,
            rtt: it.rtt,
            is_drained: it.unsent == 0 && it.in_flight == 0,
        });
    }
    readings
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn subflow(token: u32, port: u16, is_backup: bool) -> SubflowInfo {
        let ends = SubflowEnds { local: ([10, 0, 0, 1], port).into(), remote: ([10, 0, 0, 2], 5_000).into() };
        SubflowInfo {
            token: Token(token),
            ends,
            is_backup,
            acknowledged: 1,
            sent: 2,
            retransmitted: 0,
            unsent: 0,
            in_flight: 1,
            rtt: Duration::from_millis(1),
        }
    }

    #[test]
    fn subflows_are_those_of_their_connections_without_backups_of_others() {
        let connection = |token, unsent| ConnectionInfo { token: Token(token), acknowledged: 9, unsent };
        let connections = [connection(1, 0), connection(2, 5)];
        let unsent = SubflowInfo { unsent: 7, in_flight: 0, ..subflow(1, 1, false) };
        let subflows =
            [unsent, subflow(1, 2, true), subflow(1, 3, true), subflow(2, 4, false), subflow(3, 5, false)];
        let readings = of(&connections, &subflows, |_, ends| ends.local.port() == 3);
        let ports = |token| {
            let subflows = &readings[&Token(token)].subflows;
            subflows.iter().map(|it| it.id.local.port()).collect::<Vec<_>>()
        };
        assert_eq!((ports(1), ports(2)), (vec![1, 3], vec![4]));
        assert!(readings[&Token(1)].is_greedy && readings[&Token(2)].is_greedy && readings.len() == 2);
        assert!(readings.values().flat_map(|it| &it.subflows).all(|it| !it.is_drained));
    }
}
