//! Tests of the plan that comes with Braid.

use std::path::Path;

use super::*;

#[test]
fn every_scenario_with_traffic_and_every_preset_is_in_the_shipped_plan() {
    let plan = Plan::shipped().unwrap();
    let names: Vec<_> = plan.runs().map(Run::name).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "yaml") {
            let scenario = braid_lab::Scenario::load(&path).unwrap();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert_eq!(scenario.traffic.is_some(), names.contains(&name), "{name}");
        }
    }
    for preset in braid_sim::study::Preset::ALL {
        assert!(names.contains(&preset.name()), "{preset}");
    }
}

#[test]
fn scenarios_are_repeated_thrice_at_least() {
    let plan = Plan::shipped().unwrap();
    for job in plan.select(&[]).unwrap() {
        assert!(job.repeat >= 3 || job.run.preset.is_some(), "{}", job.name);
    }
}

#[test]
fn what_the_shipped_plan_says_is_about_variants_and_expectations_that_exist() {
    let plan = Plan::shipped().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for job in plan.select(&[]).unwrap().into_iter().chain(plan.select(&["ci".to_owned()]).unwrap()) {
        let (source, _) = crate::Source::load(&job, &folder).unwrap_or_else(|error| panic!("{error}"));
        let (names, variants) = match &source {
            crate::Source::Lab(scenario) => (
                scenario.expect.iter().map(|it| it.name.clone()).collect::<Vec<_>>(),
                scenario.variants.iter().map(|it| it.name.clone()).collect::<Vec<_>>(),
            ),
            crate::Source::Study(study) => (expectations(study), Vec::new()),
        };
        assert!(!names.is_empty() || job.name == "restart", "{}: nothing is judged", job.name);
        if job.shortening.is_none() {
            let known = |name: &String| names.contains(name);
            assert!(job.run.reasons.keys().all(known), "{}: a reason for nothing", job.name);
            let figures = job.run.figures.iter();
            let named = figures.flat_map(|it| it.variant.iter().chain(&it.relative_to));
            named.for_each(|name| assert!(variants.contains(name), "{}: no variant {name}", job.name));
        }
    }
}

fn expectations(study: &braid_sim::StudyKind) -> Vec<String> {
    match study {
        braid_sim::StudyKind::Transfers(it) => it.expect.iter().map(|it| it.name.clone()).collect(),
        braid_sim::StudyKind::Workload(it) => it.expect.iter().map(|it| it.name.clone()).collect(),
        braid_sim::StudyKind::Convergence(it) => it.expect.iter().map(|it| it.name.clone()).collect(),
    }
}

#[test]
fn names_stand_for_selections_chapters_and_runs_and_unknown_ones_are_refused() {
    let plan = Plan::shipped().unwrap();
    let names = |only: &[&str]| {
        let only: Vec<_> = only.iter().map(|it| (*it).to_owned()).collect();
        plan.select(&only).map(|jobs| jobs.into_iter().map(|it| it.name).collect::<Vec<_>>())
    };
    assert_eq!(names(&["two-paths", "two-paths"]).unwrap(), ["two-paths"]);
    assert!(names(&["huang"]).unwrap().contains(&"huang-a".to_owned()));
    assert!(names(&["ci"]).unwrap().iter().all(|name| name.ends_with("~ci") || !name.contains('~')));
    assert!(names(&["nothing"]).unwrap_err().to_string().contains("there are ci"));
}
