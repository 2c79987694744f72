//! Flows and groups for an edge: port 1 is a host, ports 2 and 3 are paths.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::thread::scope;

use braid_edge::{ClientError, GroupClient};
use braid_edge_protocol::extension::Extension;
use braid_openflow::{
    Action, Bucket, FlowMod, GroupId, GroupMod, GroupModCommand, GroupType, Hello, Instruction, List, Match,
    Message, OxmField, Xid, frame_length,
};
use braid_spray::{Policy, Settings};
use braid_types::PortNo;

use crate::testbed::enter;

pub(crate) const LISTENER: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 6_634));
const SPRAY: GroupId = GroupId(1);
const ORDER: GroupId = GroupId(2);

/// Asks the edge in a namespace.
pub(crate) fn inside<T: Send>(
    space: &str,
    ask: impl FnOnce(&mut GroupClient) -> Result<T, ClientError> + Send,
) -> T {
    let asked = scope(|scope| {
        let thread = scope.spawn(|| {
            enter(space);
            GroupClient::connect(LISTENER).and_then(|mut client| ask(&mut client))
        });
        thread.join()
    });
    asked.expect("a thread that asks").expect("an answer")
}

/// Packets of the host are sprayed, packets of the paths resequenced.
pub(crate) fn give_flows(space: &str) {
    scope(|scope| {
        scope.spawn(|| {
            enter(space);
            let mut stream = TcpStream::connect(LISTENER).expect("an edge");
            say(&mut stream, &Message::Hello(Hello::V1_3));
            let outputs = [2, 3].map(|port| [Action::output(PortNo(port))]);
            let buckets =
                [&outputs[0], &outputs[1]].map(|actions| Bucket { weight: 1, ..Bucket::new(actions) });
            group(&mut stream, SPRAY, GroupType::Select, &buckets);
            group(&mut stream, ORDER, GroupType::Indirect, &[Bucket::new(&[Action::output(PortNo(1))])]);
            for (port, group) in [(1, SPRAY), (2, ORDER), (3, ORDER)] {
                let (fields, todo) = ([OxmField::InPort(PortNo(port))], [Action::Group(group)]);
                let todo = [Instruction::ApplyActions(List::new(&todo))];
                let (matching, instructions) = (Match::new(&fields), List::new(&todo));
                say(
                    &mut stream,
                    &Message::FlowMod(FlowMod { priority: 1, matching, instructions, ..FlowMod::default() }),
                );
            }
            say(&mut stream, &Message::BarrierRequest);
            wait_for_barrier(&mut stream);
        });
    });
    inside(space, |client| {
        client.set(&Extension::SetSpray { group: SPRAY, policy: Policy::default() })?;
        client.set(&Extension::SetResequence { group: ORDER, settings: Some(Settings::default()) })
    });
}

fn group(stream: &mut TcpStream, group_id: GroupId, group_type: GroupType, buckets: &[Bucket<'_>]) {
    let (command, buckets) = (GroupModCommand::Add, List::new(buckets));
    say(stream, &Message::GroupMod(GroupMod { command, group_type, group_id, buckets }));
}

fn wait_for_barrier(stream: &mut TcpStream) {
    let mut unread = Vec::new();
    loop {
        while let Some(length) = frame_length(&unread).expect("OpenFlow") {
            let message: Vec<u8> = unread.drain(..length).collect();
            match Message::decode(&message).expect("OpenFlow").1 {
                Message::BarrierReply => return,
                Message::Error(error) => panic!("refused: {error:?}"),
                _ => {}
            }
        }
        let mut buffer = [0; 4_096];
        let length = stream.read(&mut buffer).expect("an edge that answers");
        assert!(length > 0, "the edge has gone");
        unread.extend(&buffer[..length]);
    }
}

fn say(stream: &mut TcpStream, message: &Message<'_>) {
    let mut bytes = Vec::new();
    message.encode(Xid(1), &mut bytes).expect("a message that can be said");
    stream.write_all(&bytes).expect("an edge that listens");
}
