//! `place` on fleets of growing size, fresh and half used.

#![allow(missing_docs)]

#[path = "../tests/sample/mod.rs"]
mod sample;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hetero_core::{Decision, Fleet, Question, place};
use serde_json::json;

fn large_fleet(nodes: usize) -> Fleet {
    let sku = |i: usize| ["Big", "Mid", "Small"][i % 3];
    let nodes: Vec<_> =
        (0..nodes).map(|i| json!({"name": format!("node-{i:05}"), "devices": [{"sku": sku(i), "count": 8}]})).collect();
    sample::fleet(&nodes)
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("place");
    let question = Question::default();
    let one = sample::request(&[sample::choice(&[], 1, 1000, false)]);
    let eight = sample::request(&[sample::choice(&["Big"], 8, 1000, true)]);
    for nodes in [100, 1_000, 10_000] {
        let mut fleet = large_fleet(nodes);
        group.bench_function(BenchmarkId::new("one device, fresh", nodes), |b| {
            b.iter(|| place(&fleet, &one, &question));
        });
        for step in 0..nodes * 4 {
            let count = u32::try_from(step % 4).expect("small") + 1;
            let request = sample::request(&[sample::choice(&[], count, 1000, false)]);
            if let Ok(Decision::Placement(placement)) = place(&fleet, &request, &question) {
                fleet.commit(&placement).expect("nothing changed since");
            }
            if nodes > 1_000 && step > 2_000 {
                break; // filling the large fleet to the half would take longer than the measurement
            }
        }
        group
            .bench_function(BenchmarkId::new("one device, used", nodes), |b| b.iter(|| place(&fleet, &one, &question)));
        group.bench_function(BenchmarkId::new("eight in one island, used", nodes), |b| {
            b.iter(|| place(&fleet, &eight, &question));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
