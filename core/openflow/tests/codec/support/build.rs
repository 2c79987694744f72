//! Short ways to write messages down.

use braid_openflow::{Action, FlowMod, Instruction, List, Match, Message, OxmField, TableId};

/// A list of items that live as long as the test.
pub(crate) fn list<T, const N: usize>(items: [T; N]) -> List<'static, T> {
    List::new(Box::leak(Box::new(items)))
}

/// A match of these fields.
pub(crate) fn matching<const N: usize>(fields: [OxmField<'static>; N]) -> Match<'static> {
    Match { fields: list(fields) }
}

/// The instruction to do these actions.
pub(crate) fn apply<const N: usize>(actions: [Action<'static>; N]) -> Instruction<'static> {
    Instruction::ApplyActions(list(actions))
}

/// Adds a flow to table 7, where the recorded flows are.
pub(crate) fn flow<const N: usize, const M: usize>(
    priority: u16,
    fields: [OxmField<'static>; N],
    instructions: [Instruction<'static>; M],
) -> Message<'static> {
    Message::FlowMod(FlowMod {
        table_id: TableId(7),
        priority,
        matching: matching(fields),
        instructions: list(instructions),
        ..FlowMod::default()
    })
}
