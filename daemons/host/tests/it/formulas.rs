//! The formulas in BPF against their twins in Rust.

use std::ffi::OsStr;
use std::time::Duration;

use braid_congestion::{Algorithm, Connection, Subflow, fixed};
use libbpf_rs::{Object, ObjectBuilder, ProgramInput};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const MAX_SUBFLOWS: usize = 17;

/// What the kernel's program answers with.
#[derive(PartialEq, Debug)]
struct Answer {
    increase: i64,
    after_loss: u32,
}

fn load() -> Object {
    let programs = include_bytes!(concat!(env!("OUT_DIR"), "/coupled.bpf.o"));
    ObjectBuilder::default().open_memory(programs).unwrap().load().unwrap()
}

fn in_the_kernel(programs: &Object, algorithm: Algorithm, subflows: &[Subflow]) -> Answer {
    let mut question: Vec<u8> = (0..MAX_SUBFLOWS).flat_map(|place| words(subflows.get(place))).collect();
    let number = Algorithm::ALL.iter().position(|it| *it == algorithm).unwrap();
    question.extend((number as u32).to_ne_bytes());
    let answer = question.len();
    question.resize(answer + 12, 0);
    let program = programs.progs_mut().find(|it| it.name() == OsStr::new("compute")).unwrap();
    let input = ProgramInput { context_in: Some(&mut question), ..ProgramInput::default() };
    program.test_run(input).unwrap();
    let (increase, after_loss) = question[answer..].split_at(8);
    Answer {
        increase: i64::from_ne_bytes(increase.try_into().unwrap()),
        after_loss: u32::from_ne_bytes(after_loss.try_into().unwrap()),
    }
}

fn words(subflow: Option<&Subflow>) -> Vec<u8> {
    let words = subflow.map_or([0; 3], |it| [it.cwnd, it.srtt.as_micros() as u32, it.run]);
    words.into_iter().flat_map(u32::to_ne_bytes).collect()
}

fn in_rust(algorithm: Algorithm, subflows: &[Subflow]) -> Answer {
    let connection = Connection { own: subflows[0], others: &subflows[1..] };
    Answer {
        increase: fixed::increase(algorithm, connection),
        after_loss: fixed::after_loss(algorithm, connection),
    }
}

/// Usual ones, extreme ones, equal ones and ones without a round-trip time.
fn subflows() -> impl Strategy<Value = Vec<Subflow>> {
    let cwnd = prop_oneof![1..200u32, any::<u32>(), Just(10)];
    let micros = prop_oneof![100..500_000u32, any::<u32>(), Just(0), Just(20_000)];
    let run = prop_oneof![0..10_000u32, any::<u32>(), Just(500)];
    let one = (cwnd, micros, run).prop_map(|(cwnd, micros, run)| Subflow {
        cwnd,
        srtt: Duration::from_micros(micros.into()),
        run,
    });
    prop::collection::vec(one, 1..=MAX_SUBFLOWS)
}

#[test]
fn kernel_computes_what_rust_computes() {
    if !nix::unistd::Uid::effective().is_root() {
        eprintln!("skipped: BPF needs root");
        return;
    }
    let programs = load();
    let mut runner = TestRunner::new(Config { cases: 2_000, failure_persistence: None, ..Config::default() });
    let same = |subflows: Vec<Subflow>| {
        for algorithm in Algorithm::ALL {
            let (kernel, rust) =
                (in_the_kernel(&programs, algorithm, &subflows), in_rust(algorithm, &subflows));
            prop_assert_eq!(kernel, rust, "{} {:?}", algorithm, subflows);
        }
        Ok(())
    };
    runner.run(&subflows(), same).unwrap();
}
