//! The rule of a policy file that applies to a connection.

use braid_paths::Kind;
use braid_steering::{Imbalance, Policies, Policy, Resequence, SteerAs};
use braid_types::FiveTuple;
use proptest::prelude::*;

const FILE: &str = r#"
[[rule]]
name = "backups stay out of the way"
to = ["10.2.0.0/16", "fd02::/16"]
ports = [873, "50000-51000"]
kind = "single"

[[rule]]
name = "data-transfer nodes"
from = ["10.1.0.0/16"]
to = ["10.2.0.0/16"]
paths = "ksp"
k = 16
subflows = 6

[default]
placement = "least-loaded"
k = 4
"#;

fn tuple(src: &str, dst: &str, dst_port: u16) -> FiveTuple {
    FiveTuple { src: src.parse().unwrap(), dst: dst.parse().unwrap(), src_port: 40_000, dst_port }
}

#[test]
fn the_first_rule_that_fits_counts_and_the_default_fills_what_it_leaves_out() {
    let policies = Policies::parse(FILE).unwrap();
    let of = |src, dst, port| policies.of(&tuple(src, dst, port));
    for port in [873, 50_000, 51_000] {
        assert_eq!(of("10.1.0.1", "10.2.0.1", port).steer_as, SteerAs::Single);
    }
    assert_eq!(of("fd01::1", "fd02::1", 873).steer_as, SteerAs::Single);
    let nodes = of("10.1.0.1", "10.2.0.1", 51_001);
    assert_eq!((nodes.steer_as, nodes.paths, nodes.k), (SteerAs::Auto, Some(Kind::KShortest), Some(16)));
    assert_eq!((nodes.placement, nodes.subflows), (Some(Policy::LeastLoaded), Some(6)));
    let other = of("10.2.0.1", "10.1.0.1", 873);
    assert_eq!((other.paths, other.k, other.placement), (None, Some(4), Some(Policy::LeastLoaded)));
}

#[test]
fn what_is_sprayed_is_put_in_order_as_the_policy_says() {
    let file = "[[rule]]\nname = \"a\"\nports = [80]\nkind = \"spray\"\nresequence = \"never\"\nmax_mdi = 0.45\n\n\
                [default]\nresequence = \"unequal\"\n";
    let policies = Policies::parse(file).unwrap();
    let web = policies.of(&tuple("10.1.0.1", "10.2.0.1", 80));
    assert_eq!((web.steer_as, web.resequence), (SteerAs::Spray, Some(Resequence::Never)));
    assert_eq!(web.max_mdi.map(Imbalance::share), Some(0.45));
    let other = policies.of(&tuple("10.1.0.1", "10.2.0.1", 81));
    assert_eq!((other.resequence, other.max_mdi), (Some(Resequence::Unequal), None));
    for (value, line) in [
        ("resequence = \"often\"", "not always"),
        ("max_mdi = 0.6", "0.5"),
        ("max_mdi = nan", "0.5"),
        ("max_delay_difference_ms = -1", "0 to 1000"),
    ] {
        let problems = Policies::parse(&format!("[default]\n{value}\n")).unwrap_err();
        assert!(problems[0].to_string().contains(line), "{problems:?}");
    }
}

#[test]
fn plain_connections_may_be_steered_as_parallel_ones() {
    let policies =
        Policies::parse("[[rule]]\nname = \"bulk\"\nports = [2811]\nkind = \"parallel\"\nk = 3\n").unwrap();
    let steering = policies.of(&tuple("10.0.0.1", "10.0.0.2", 2811));
    assert_eq!((steering.steer_as, steering.k), (SteerAs::Parallel, Some(3)));
    assert_eq!(policies.of(&tuple("10.0.0.1", "10.0.0.2", 80)).steer_as, SteerAs::Auto);
}

#[test]
fn an_empty_file_says_nothing() {
    assert_eq!(Policies::parse("").unwrap(), Policies::default());
}

#[test]
fn every_problem_names_line_column_and_field() {
    let text = "[[rule]]\nname = \"a\"\nfrom = [\"10.0.0.0/8\", \"10.0.0.1/8\"]\nports = [0, 80, \"9-8\"]\n\
                kind = \"sprinkle\"\npaths = \"all\"\nk = 0\n\n[[rule]]\nname = \"a\"\nplacement = \"best\"\nsubflows = 10000\n";
    let problems: Vec<_> = Policies::parse(text).unwrap_err().iter().map(ToString::to_string).collect();
    let starts = [
        "3:23: rule[0].from[1]: ",
        "4:10: rule[0].ports[0]: ",
        "4:17: rule[0].ports[2]: ",
        "5:8: rule[0].kind: \"sprinkle\" is not auto, single, spray or parallel",
        "6:9: rule[0].paths: ",
        "7:5: rule[0].k: 0 is not from 1 to 64",
        "10:8: rule[1].name: \"a\" is the name of another rule",
        "11:13: rule[1].placement: ",
        "12:12: rule[1].subflows: 10000 is not from 1 to 64",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
}

#[test]
fn what_is_no_policy_is_told_with_its_place() {
    for (text, start) in [
        ("[[rule]]\nname = \"a\"\nspeed = 1\n", "3:1: "),
        ("[[rule]\n", "1:"),
        ("\n[[rule]]\nk = 3\n", "2:1: "),
        ("[[rule]]\nname = \"a\"\nk = \"many\"\n", "3:5: "),
    ] {
        let problems = Policies::parse(text).unwrap_err();
        assert!(problems[0].to_string().starts_with(start), "{text}: {}", problems[0]);
    }
}

#[test]
fn rules_and_prefixes_are_bounded() {
    let rules: String = (0..1_025).map(|it| format!("[[rule]]\nname = \"{it}\"\n")).collect();
    assert_eq!(Policies::parse(&rules).unwrap_err().len(), 1);
    let prefixes = "\"10.0.0.0/8\", ".repeat(257);
    assert_eq!(
        Policies::parse(&format!("[[rule]]\nname = \"a\"\nto = [{prefixes}]\n")).unwrap_err().len(),
        1
    );
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]a-z=\"0-9/.,\n -]{0,200}") {
        let _ = Policies::parse(&text);
    }

    #[test]
    fn a_damaged_file_is_refused_or_read(cut in 0..400_usize, with in any::<char>()) {
        let mut text: String = FILE.chars().take(cut).collect();
        text.push(with);
        if let Err(problems) = Policies::parse(&text) {
            prop_assert!(problems.iter().all(|it| it.line >= 1 && it.line <= text.lines().count() + 1));
        }
    }
}
