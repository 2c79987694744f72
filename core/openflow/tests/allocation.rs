//! The messages of the fast path neither allocate when they are decoded and read nor when they are encoded.

#![expect(unsafe_code, reason = "only a global allocator can count allocations, and its trait is unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::net::Ipv4Addr;

use braid_openflow::{
    Action, Cookie, EthType, FlowMod, FlowRemoved, FlowRemovedReason, Instruction, List, Match, Message,
    OxmField, PacketIn, PacketInReason, PacketOut, Seconds, TableId, Xid,
};
use braid_types::{MacAddr, PortNo};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `work` allocates.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// Encodes, decodes and reads `message` without an allocation, given room for its bytes.
fn needs_no_allocation(message: Message<'_>) {
    let mut bytes = Vec::with_capacity(512);
    let count = allocations(|| {
        message.encode(Xid(1), &mut bytes).expect("encodes");
        let (xid, decoded) = Message::decode(&bytes).expect("decodes");
        read(black_box(decoded));
        assert!(xid == Xid(1) && decoded == message);
    });
    assert_eq!(count, 0, "{message:?}");
}

/// Has the optimiser believe that a value is used.
fn look<T>(value: T) {
    black_box(value);
}

/// Looks at everything that is in a list.
fn read(message: Message<'_>) {
    match message {
        Message::PacketIn(packet) => look(packet.in_port()),
        Message::PacketOut(packet) => packet.actions.iter().for_each(look),
        Message::FlowRemoved(flow) => flow.matching.fields.iter().for_each(look),
        Message::FlowMod(flow) => {
            flow.matching.fields.iter().for_each(look);
            flow.instructions.iter().for_each(|instruction| match instruction {
                Instruction::ApplyActions(actions) => actions.iter().for_each(look),
                other => look(other),
            });
        }
        other => panic!("not on the fast path: {other:?}"),
    }
}

const FRAME: [u8; 74] = [0xab; 74];

const STREAM: [OxmField<'_>; 6] = [
    OxmField::EthType(EthType::IPV4),
    OxmField::IpProto(6),
    OxmField::Ipv4Src(braid_openflow::Masked::exact(Ipv4Addr::new(10, 0, 0, 1))),
    OxmField::Ipv4Dst(braid_openflow::Masked::exact(Ipv4Addr::new(10, 0, 0, 2))),
    OxmField::TcpSrc(braid_openflow::Masked::exact(40_000)),
    OxmField::TcpDst(braid_openflow::Masked::exact(2811)),
];

#[test]
fn the_allocator_is_watched() {
    assert_eq!(allocations(|| look(Vec::<u8>::with_capacity(64))), 1);
}

#[test]
fn packet_in() {
    let fields = [OxmField::InPort(PortNo(3))];
    needs_no_allocation(Message::PacketIn(PacketIn {
        buffer_id: braid_openflow::BufferId::NO_BUFFER,
        total_len: 74,
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(1),
        matching: Match::new(&fields),
        data: braid_openflow::Bytes(&FRAME),
    }));
}

#[test]
fn packet_out() {
    let actions = [Action::output(PortNo(3))];
    needs_no_allocation(Message::PacketOut(PacketOut::new(&FRAME, &actions)));
}

#[test]
fn flow_mod() {
    let label = OxmField::EthDst(MacAddr::new([2, 0, 0, 0, 0, 7]).into());
    let actions = [Action::SetField(label), Action::output(PortNo(3))];
    let instructions = [Instruction::ApplyActions(List::from(&actions)), Instruction::GotoTable(TableId(4))];
    needs_no_allocation(Message::FlowMod(FlowMod {
        matching: Match::new(&STREAM),
        instructions: List::from(&instructions),
        ..FlowMod::default()
    }));
}

#[test]
fn flow_removed() {
    needs_no_allocation(Message::FlowRemoved(FlowRemoved {
        cookie: Cookie(1),
        priority: 40,
        reason: FlowRemovedReason::IdleTimeout,
        table_id: TableId(1),
        duration_sec: 1,
        duration_nsec: 2,
        idle_timeout: Seconds(10),
        hard_timeout: Seconds::PERMANENT,
        packet_count: 3,
        byte_count: 4,
        matching: Match::new(&STREAM),
    }));
}

#[test]
fn refusal() {
    let bytes = [4, 14, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0];
    let count = allocations(|| assert!(black_box(Message::decode(&bytes)).is_err()));
    assert_eq!(count, 0);
}
