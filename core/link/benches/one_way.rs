//! The cost of the link model for one frame that passes.

use braid_link_model::{Change, OneWay, Parameters};
use braid_types::Time;
use criterion::{Criterion, criterion_group, criterion_main};

/// A frame of 1,500 bytes every microsecond; those of the delay before are on the way.
fn pass(criterion: &mut Criterion, name: &str, change: &str) {
    let change: Change = serde_json::from_str(change).unwrap_or_default();
    let mut link = OneWay::new(Parameters::default().with(&change), 1);
    let mut now = 0;
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            now += 1_000;
            let time = Time::from_nanos(now);
            link.offer(time, 1_500, || now);
            link.poll_arrival(time)
        });
    });
}

fn benches(criterion: &mut Criterion) {
    pass(criterion, "cable", "{}");
    pass(criterion, "delay", r#"{"delay":"20ms"}"#);
    pass(criterion, "rate and delay", r#"{"rate":"13Gbit","delay":"20ms"}"#);
    pass(
        criterion,
        "rate, delay, jitter, loss",
        r#"{"rate":"13Gbit","delay":"20ms","jitter":"1ms","distribution":"normal","loss":"1%"}"#,
    );
}

criterion_group!(one_way, benches);
criterion_main!(one_way);
