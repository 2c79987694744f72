//! Export to DOT: every link is drawn and every name is quoted.

use std::time::Duration;

use braid_topology::blueprint::{Blueprint, NewInterface, NewSwitch};
use braid_topology::{LinkState, export};
use braid_types::BitsPerSec;

const DOT: &str = r#"digraph "a \"small\" one" {
  node [shape=box]; edge [dir=none];
  "back\\slash";
  subgraph "cluster_0" {
    label="pod 1";
    "ü";
  }
  "host" [shape=ellipse];
  "back\\slash" -> "ü" [label="100Mbit"];
  "back\\slash" -> "ü" [label="100Mbit\n1.5ms"];
  "ü" -> "back\\slash" [label="100Mbit", dir=forward];
  "host" -> "ü" [label="100Mbit", dir=forward];
  "ü" -> "host" [label="100Mbit\n1.5ms", dir=forward];
}
"#;

#[test]
fn dot_has_every_link_and_quotes_what_it_must() {
    let plain = LinkState::of_capacity(BitsPerSec(100_000_000));
    let timed = LinkState { delay: Some(Duration::from_micros(1_500)), ..plain };
    let mut builder = Blueprint::builder("a \"small\" one");
    let a = builder.switch(NewSwitch::named("back\\slash")).unwrap();
    let b = builder.switch(NewSwitch { group: Some("pod 1".into()), ..NewSwitch::named("ü") }).unwrap();
    builder.link(a, b, plain).unwrap();
    builder.link(a, b, timed).unwrap();
    builder.directed_link([a.into(), b.into()], [None, Some(plain)]).unwrap();
    builder.host_with("host", vec![NewInterface { plug: b.into(), states: [plain, timed] }]).unwrap();
    assert_eq!(export::dot(&builder.build()), DOT);
}
