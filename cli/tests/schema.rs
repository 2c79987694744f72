//! `braid schema`: shipped files match their schemas, and mistakes do not.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use braid_link_model::{Delay, Probability, QueueLimit};
use braid_sim::Control;
use braid_topology::generate::Spec;
use braid_types::{BitsPerSec, DatapathId};
use jsonschema::Validator;
use schemars::JsonSchema;
use serde_json::{Value, json};
use support::{run, text};

const FORMATS: [&str; 8] = ["scenario", "study", "policy", "controller", "edge", "host", "site", "topology"];

fn top(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn schema(format: &str) -> Validator {
    let output = run(&["schema", format]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let schema: Value = serde_json::from_slice(&output.stdout).expect("the schema is JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{format}: {error}"))
}

/// What the schema says against a document; empty if it is valid.
fn errors(schema: &Validator, document: &Value) -> Vec<String> {
    schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn toml(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(top(folder)).expect("the folder exists").map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} has {extension} files");
    files
}

#[test]
fn schemas_are_valid_themselves() {
    for format in FORMATS {
        let schema: Value = serde_json::from_slice(&run(&["schema", format]).stdout).unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{format}");
    }
}

#[test]
fn shipped_scenarios_match() {
    let schema = schema("scenario");
    for file in files("scenarios", "yaml") {
        let document = yaml(&fs::read_to_string(&file).unwrap());
        assert_eq!(errors(&schema, &document), Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn preset_studies_match() {
    let schema = schema("study");
    for file in files("tools/sim/presets", "yaml") {
        let document = yaml(&fs::read_to_string(&file).unwrap());
        assert_eq!(errors(&schema, &document), Vec::<String>::new(), "{}", file.display());
    }
}

/// The policies in the documentation and in the variants of shipped scenarios.
fn policies() -> Vec<String> {
    let pages = ["docs", "docs/tutorials", "docs/how-to", "docs/reference"].map(|folder| files(folder, "md"));
    let pages = pages.iter().flatten().map(|page| fs::read_to_string(page).unwrap());
    let blocks = pages.flat_map(|page| {
        let blocks = page.split("```toml\n").skip(1).map(|it| it.split("```").next().unwrap().to_owned());
        blocks.filter(|it| it.contains("[[rule]]")).collect::<Vec<_>>()
    });
    let scenarios = files("scenarios", "yaml").into_iter().flat_map(|file| {
        let document = yaml(&fs::read_to_string(file).unwrap());
        let variants = document["variants"].as_array().cloned().unwrap_or_default();
        variants.into_iter().filter_map(|it| it["policy"].as_str().map(str::to_owned))
    });
    blocks.chain(scenarios).collect()
}

#[test]
fn shipped_policies_match() {
    let (schema, policies) = (schema("policy"), policies());
    assert!(policies.len() > 3, "{} policies are found", policies.len());
    for policy in policies {
        assert_eq!(errors(&schema, &toml(&policy)), Vec::<String>::new(), "{policy}");
    }
}

/// The keys of an example that are commented out because they have their default.
fn defaults(text: &str) -> String {
    let keys = text.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' '));
    let is_placeholder =
        |line: &&str| line.contains("= \"") && line.chars().any(char::is_uppercase) || line.contains('[');
    keys.filter(|line| !is_placeholder(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn packaged_options_match_with_their_defaults() {
    for format in ["controller", "edge", "host"] {
        let text = fs::read_to_string(top(&format!("packaging/etc/{format}.toml"))).unwrap();
        let (as_packaged, filled) = (toml(&text), toml(&defaults(&text)));
        assert!(!filled.as_object().unwrap().is_empty(), "{format}");
        let schema = schema(format);
        for document in [as_packaged, filled] {
            assert_eq!(errors(&schema, &document), Vec::<String>::new(), "{format}");
        }
    }
}

#[test]
fn packaged_site_matches_once_it_is_filled_in() {
    let text = fs::read_to_string(top("packaging/etc/sites/example.toml")).unwrap();
    let keys = text.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| !line.starts_with(' '));
    let site = toml(&keys.collect::<Vec<_>>().join("\n"));
    assert_eq!(site["uplink"].as_array().map(Vec::len), Some(2));
    assert_eq!(errors(&schema("site"), &site), Vec::<String>::new());
}

#[test]
fn networks_that_are_generated_match() {
    let schema = schema("topology");
    for network in ["fattree:4", "two-path", "east-asia", "huang-a"] {
        let output = run(&["topology", "generate", network]);
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(errors(&schema, &document), Vec::<String>::new(), "{network}");
    }
}

/// A document in which the value at this place is another.
fn with(document: &Value, place: &str, value: Value) -> Value {
    let mut changed = document.clone();
    let (parent, key) = place.rsplit_once('/').expect("a place begins with a slash");
    changed.pointer_mut(parent).unwrap_or_else(|| panic!("{parent}"))[key] = value;
    changed
}

#[track_caller]
fn refuses(schema: &Validator, document: &Value, mistakes: &[(&str, Value)]) {
    assert_eq!(errors(schema, document), Vec::<String>::new());
    for (place, value) in mistakes {
        let wrong = with(document, place, value.clone());
        assert!(!schema.is_valid(&wrong), "{place}: {value} is accepted");
    }
}

#[test]
fn mistakes_in_scenarios_are_refused() {
    let scenario = yaml(&fs::read_to_string(top("scenarios/ams-gva.yaml")).unwrap());
    let mistakes = [
        ("/trafic", json!({})),
        ("/traffic/durations", json!("15s")),
        ("/traffic/duration", json!("15")),
        ("/traffic/duration", json!(15)),
        ("/traffic/modes", json!(["mtcp"])),
        ("/traffic/tool", json!("iperf2")),
        ("/topology/hosts", json!("ams")),
        ("/topology/links/0/rate", json!("100MB")),
        ("/topology/links/0/rate", json!("fast")),
        ("/topology/links/0/loss", json!("101%")),
        ("/topology/links/0/queue", json!("100 frames")),
        ("/topology/links/0/reverse", json!({ "delays": "1ms" })),
        ("/topology/switches", json!(["ams1@xyz", 5])),
        ("/topology/hosts/0/mptcp", json!({ "subflows": 300 })),
    ];
    refuses(&schema("scenario"), &scenario, &mistakes);
}

#[test]
fn mistakes_in_studies_are_refused() {
    let schema = schema("study");
    let preset =
        |name: &str| yaml(&fs::read_to_string(top(&format!("tools/sim/presets/{name}.yaml"))).unwrap());
    let mistakes = [
        ("/kind", json!("transfer")),
        ("/seed", json!(3)),
        ("/network", json!("fatcat:8")),
        ("/network", json!("torus:3")),
        ("/rate", json!(10)),
        ("/control", json!("vegas")),
        ("/methods/0/scheme", json!("disjoint:4/ecmp")),
    ];
    refuses(&schema, &preset("zannettou-fattree"), &mistakes);
    let kinds: Vec<_> = files("tools/sim/presets", "yaml");
    let of = |kind: &str| {
        let studies = kinds.iter().map(|file| yaml(&fs::read_to_string(file).unwrap()));
        studies.into_iter().find(|it| it["kind"] == kind)
    };
    for kind in ["workload", "convergence"] {
        let Some(study) = of(kind) else { panic!("no preset is a {kind}") };
        refuses(&schema, &study, &[("/kind", json!("transfers")), ("/measured", json!("long"))]);
    }
}

#[test]
fn mistakes_in_policies_are_refused() {
    let policy = toml(
        "[[rule]]\nname = \"bulk\"\nfrom = [\"10.0.0.0/8\"]\nports = [5201, \"50000-51000\"]\nkind = \"spray\"\n\
         paths = \"within:4\"\nk = 4\n[default]\nkind = \"auto\"\nplacement = \"random\"\nmax_mdi = 0.25\n",
    );
    let mistakes = [
        ("/rule/0/port", json!([80])),
        ("/rule/0/ports", json!([0])),
        ("/rule/0/ports", json!(["http"])),
        ("/rule/0/kind", json!("sprayed")),
        ("/rule/0/paths", json!("within")),
        ("/rule/0/k", json!(65)),
        ("/rule/0/k", json!("4")),
        ("/rule/0/from", json!(["everywhere"])),
        ("/default/placement", json!("fewest")),
        ("/default/max_mdi", json!(0.6)),
        ("/default/resequence", json!("sometimes")),
    ];
    refuses(&schema("policy"), &policy, &mistakes);
}

#[test]
fn mistakes_in_options_are_refused() {
    let edge = toml("port = [\"eth0\"]\n");
    refuses(&schema("edge"), &edge, &[("/ports", json!(["eth0"])), ("/port", json!(5))]);
    let host = toml("mode = \"kernel\"\nsubflows = 4\naccept = 8\n");
    let mistakes = [
        ("/mode", json!("kernal")),
        ("/subflows", json!(0)),
        ("/subflows", json!(65)),
        ("/accept", json!(9)),
        ("/congestion", json!("cubic")),
        ("/max-subflows", json!(2)),
        ("/receive_buffer", json!(-1)),
    ];
    refuses(&schema("host"), &host, &mistakes);
    let controller = toml("openflow_trusted = true\n");
    refuses(
        &schema("controller"),
        &controller,
        &[("/openflow_trusted", json!("yes")), ("/verbose", json!(1))],
    );
}

#[test]
fn mistakes_in_sites_and_networks_are_refused() {
    let site = toml(
        "private_key = \"a.key\"\n[[uplink]]\ninterface = \"wan1\"\n[[peer]]\nname = \"b\"\npublic_key = \"x\"\n[lan]\n",
    );
    let mistakes = [
        ("/port", json!(70_000)),
        ("/uplink", json!([])),
        ("/uplink/0/rate", json!("100MB")),
        ("/uplink/0/cost", json!(256)),
        ("/traffic", json!({ "urgent": "fast" })),
        ("/traffic", json!({ "rule": [{}] })),
        ("/traffic", json!({ "rule": [{ "paths": "all", "ports": ["5060-"] }] })),
        ("/traffic", json!({ "rule": [{ "paths": "all", "dscp": ["fe"] }] })),
        ("/traffic", json!({ "rule": [{ "paths": "all", "protocol": 256 }] })),
        ("/lan/nat", json!("yes")),
        ("/uplink/0/interface", json!("a name that is too long")),
        ("/peer/0/network", json!(["10.0.0.0/8"])),
        ("/lan/mtu", json!(1500)),
    ];
    refuses(&schema("site"), &site, &mistakes);
    let network: Value = serde_json::from_slice(&run(&["topology", "generate", "ring:3"]).stdout).unwrap();
    let mistakes = [
        ("/schema", json!("braid/v2")),
        ("/topology/switches/0/dpid", json!("seven")),
        ("/topology/links/0/ends", json!([])),
    ];
    refuses(&schema("topology"), &network, &mistakes);
}

/// Whether the schema of a type and its parser judge these texts alike.
#[track_caller]
fn agree<T: FromStr + JsonSchema>(texts: &[&str]) {
    let schema = jsonschema::validator_for(schemars::schema_for!(T).as_value()).unwrap();
    let judge = |text: &&&str| (schema.is_valid(&json!(text)), text.parse::<T>().is_ok());
    let apart: Vec<_> = texts.iter().filter(|text| judge(text).0 != judge(text).1).collect();
    assert!(apart.is_empty(), "{apart:?}: the schema and the parser of {} differ", T::schema_name());
    assert!(texts.iter().any(|text| judge(&text).0) && texts.iter().any(|text| !judge(&text).0));
}

#[test]
fn schemas_of_amounts_judge_as_their_parsers_do() {
    agree::<BitsPerSec>(&[
        "100Mbit",
        "100 Mbit/s",
        "1.5gbps",
        "0.1G",
        ".5T",
        "5.k",
        "10kbits/sec",
        "7 bit",
        "7b/s",
        "0",
        "0.0",
        "100MB",
        "100",
        "fast",
        "-1Mbit",
        "1.2.3M",
        "10 kB/s",
        "5mBIT",
        "",
        "M",
        "1e3M",
    ]);
    agree::<Delay>(&["20ms", "1.5 s", "200us", "3µs", "1min", "0", "5", "20 m", "ms", "-1ms", "1h1", "20MS"]);
    agree::<Probability>(&["1%", "0.05 %", "100%", "100.0%", ".5%", "0", "1", "101%", "-1%", "%", "0.5"]);
    agree::<QueueLimit>(&[
        "100 packets",
        "1 packet",
        "64kB",
        "64 KiB",
        "30000 bytes",
        "100",
        "100 frames",
        "1.5 packets",
    ]);
    agree::<DatapathId>(&["1", "0x2a", "000000000000002a", "x", "", "00000000000000001"]);
    agree::<Spec>(&[
        "fattree:8",
        "jellyfish:60,10,120",
        "jellyfish:60,10,120,7",
        "dh-jellyfish:5, 6, 7",
        "torus:3,4",
        "two-path",
        "huang-a",
        "fattree",
        "fattree:x",
        "torus:3",
        "jellyfish:1,2",
        "two-path:3",
        "ring:1,2",
    ]);
    agree::<Control>(&["cubic", "reno", "lia", "olia", "balia", "bbr", "LIA", ""]);
}

#[test]
fn formats_that_do_not_exist_are_named() {
    let output = run(&["schema", "scenarios"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a similar value exists: 'scenario'"), "{}", text(&output.stderr));
}
