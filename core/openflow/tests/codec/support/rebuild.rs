//! Reconstruction of a received message from slices of items, as a sender builds it, so that every item is encoded anew
//! and not copied.

use braid_openflow::{
    Action, Bucket, FlowMod, FlowRemoved, FlowStats, FlowStatsRequest, GroupDesc, GroupMod, GroupStats,
    Hello, HelloElement, Instruction, List, Match, Message, MeterConfig, MeterMod, MeterStats,
    MultipartReply, MultipartRequest, PacketIn, PacketOut, PacketQueue, QueueGetConfigReply, ReplyBody,
    RequestBody, TableFeatureProperty, TableFeatures, Wire,
};

/// The same message from items. What it borrows is leaked, which a test can afford.
pub(crate) fn message(message: Message<'_>) -> Message<'_> {
    match message {
        Message::Hello(hello) => {
            Message::Hello(Hello { elements: list(hello.elements, hello_element), ..hello })
        }
        Message::PacketIn(it) => Message::PacketIn(PacketIn { matching: matching(it.matching), ..it }),
        Message::FlowRemoved(it) => {
            Message::FlowRemoved(FlowRemoved { matching: matching(it.matching), ..it })
        }
        Message::PacketOut(it) => Message::PacketOut(PacketOut { actions: actions(it.actions), ..it }),
        Message::FlowMod(it) => Message::FlowMod(FlowMod {
            matching: matching(it.matching),
            instructions: list(it.instructions, instruction),
            ..it
        }),
        Message::GroupMod(it) => Message::GroupMod(GroupMod { buckets: list(it.buckets, bucket), ..it }),
        Message::MeterMod(it) => Message::MeterMod(MeterMod { bands: list(it.bands, same), ..it }),
        Message::QueueGetConfigReply(it) => {
            Message::QueueGetConfigReply(QueueGetConfigReply { queues: list(it.queues, queue), ..it })
        }
        Message::MultipartRequest(it) => {
            Message::MultipartRequest(MultipartRequest { body: request(it.body), ..it })
        }
        Message::MultipartReply(it) => Message::MultipartReply(MultipartReply { body: reply(it.body), ..it }),
        other => other,
    }
}

fn list<'a, T: Wire<'a>>(list: List<'a, T>, each: fn(T) -> T) -> List<'a, T> {
    List::new(Box::leak(list.iter().map(each).collect::<Vec<_>>().into_boxed_slice()))
}

fn same<T>(item: T) -> T {
    item
}

fn hello_element(element: HelloElement<'_>) -> HelloElement<'_> {
    match element {
        HelloElement::VersionBitmap(bitmap) => HelloElement::VersionBitmap(list(bitmap, same)),
        other => other,
    }
}

fn matching(matching: Match<'_>) -> Match<'_> {
    Match { fields: list(matching.fields, same) }
}

fn actions<'a>(actions: List<'a, Action<'a>>) -> List<'a, Action<'a>> {
    list(actions, same)
}

fn instruction(instruction: Instruction<'_>) -> Instruction<'_> {
    match instruction {
        Instruction::WriteActions(list) => Instruction::WriteActions(actions(list)),
        Instruction::ApplyActions(list) => Instruction::ApplyActions(actions(list)),
        other => other,
    }
}

fn bucket(bucket: Bucket<'_>) -> Bucket<'_> {
    Bucket { actions: actions(bucket.actions), ..bucket }
}

fn queue(queue: PacketQueue<'_>) -> PacketQueue<'_> {
    PacketQueue { properties: list(queue.properties, same), ..queue }
}

fn request(body: RequestBody<'_>) -> RequestBody<'_> {
    match body {
        RequestBody::Flow(it) => {
            RequestBody::Flow(FlowStatsRequest { matching: matching(it.matching), ..it })
        }
        RequestBody::Aggregate(it) => {
            RequestBody::Aggregate(FlowStatsRequest { matching: matching(it.matching), ..it })
        }
        RequestBody::TableFeatures(tables) => RequestBody::TableFeatures(list(tables, table)),
        other => other,
    }
}

fn reply(body: ReplyBody<'_>) -> ReplyBody<'_> {
    match body {
        ReplyBody::Flow(it) => ReplyBody::Flow(list(it, flow)),
        ReplyBody::Table(it) => ReplyBody::Table(list(it, same)),
        ReplyBody::Port(it) => ReplyBody::Port(list(it, same)),
        ReplyBody::Queue(it) => ReplyBody::Queue(list(it, same)),
        ReplyBody::Group(it) => {
            ReplyBody::Group(list(it, |it| GroupStats { bucket_stats: list(it.bucket_stats, same), ..it }))
        }
        ReplyBody::GroupDesc(it) => {
            ReplyBody::GroupDesc(list(it, |it| GroupDesc { buckets: list(it.buckets, bucket), ..it }))
        }
        ReplyBody::Meter(it) => {
            ReplyBody::Meter(list(it, |it| MeterStats { band_stats: list(it.band_stats, same), ..it }))
        }
        ReplyBody::MeterConfig(it) => {
            ReplyBody::MeterConfig(list(it, |it| MeterConfig { bands: list(it.bands, same), ..it }))
        }
        ReplyBody::TableFeatures(it) => ReplyBody::TableFeatures(list(it, table)),
        ReplyBody::PortDesc(it) => ReplyBody::PortDesc(list(it, same)),
        other => other,
    }
}

fn flow(flow: FlowStats<'_>) -> FlowStats<'_> {
    FlowStats {
        matching: matching(flow.matching),
        instructions: list(flow.instructions, instruction),
        ..flow
    }
}

fn table(table: TableFeatures<'_>) -> TableFeatures<'_> {
    TableFeatures { properties: list(table.properties, property), ..table }
}

fn property(property: TableFeatureProperty<'_>) -> TableFeatureProperty<'_> {
    use TableFeatureProperty as Property;
    match property {
        Property::Instructions(it) => Property::Instructions(list(it, same)),
        Property::InstructionsMiss(it) => Property::InstructionsMiss(list(it, same)),
        Property::NextTables(it) => Property::NextTables(list(it, same)),
        Property::NextTablesMiss(it) => Property::NextTablesMiss(list(it, same)),
        Property::WriteActions(it) => Property::WriteActions(list(it, same)),
        Property::WriteActionsMiss(it) => Property::WriteActionsMiss(list(it, same)),
        Property::ApplyActions(it) => Property::ApplyActions(list(it, same)),
        Property::ApplyActionsMiss(it) => Property::ApplyActionsMiss(list(it, same)),
        Property::Match(it) => Property::Match(list(it, same)),
        Property::Wildcards(it) => Property::Wildcards(list(it, same)),
        Property::WriteSetfield(it) => Property::WriteSetfield(list(it, same)),
        Property::WriteSetfieldMiss(it) => Property::WriteSetfieldMiss(list(it, same)),
        Property::ApplySetfield(it) => Property::ApplySetfield(list(it, same)),
        Property::ApplySetfieldMiss(it) => Property::ApplySetfieldMiss(list(it, same)),
        other => other,
    }
}
