use crate::client::view::Link;
use crate::client::{Answer, Args, format, show};
use crate::table::table;

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    show(args, "links", |answer: &Answer<Link>| {
        table(["FROM", "TO", "CAPACITY"], answer.items.iter().map(row))
    })
}

fn row(link: &Link) -> [String; 3] {
    [format::port(link.src), format::port(link.dst), link.capacity().to_string()]
}
