//! Which tasks arrive, and in which order.

use hetero_core::Result;

use crate::generator::Generator;
use crate::trace::{Trace, refuse};
use crate::watch::Watch;

/// Tasks that may have to be drawn, on average; more means a trace that hardly asks for devices, or a mistyped arrival.
const MOST_DRAWN: u64 = 20_000_000;

/// The classes of the arriving tasks: all tasks of the trace, then tasks drawn from it with replacement until together they
/// ask for `arrival_milli` thousandths of the capacity; where the trace alone asks for more, tasks are removed at random
/// until it does not. Then all are shuffled.
pub(crate) fn arrivals(
    trace: &Trace,
    capacity_milli: u64,
    arrival_milli: u32,
    generator: &mut Generator,
    watch: &Watch,
) -> Result<Vec<usize>> {
    let wanted = u128::from(capacity_milli) * u128::from(arrival_milli);
    let is_short = |demand: u64| u128::from(demand) * 1000 < wanted;
    let is_above = |demand: u64| u128::from(demand) * 1000 > wanted;
    let mut tasks = trace.tasks.clone();
    let mut demand: u64 = tasks.iter().map(|&class| trace.demand_milli(class)).sum();
    let missing = (wanted / 1000).saturating_sub(u128::from(demand));
    if missing * tasks.len() as u128 > u128::from(MOST_DRAWN) * u128::from(demand) {
        let message = "trace: its tasks ask so little of devices that more than 20 million would have to be drawn";
        return Err(refuse(format!("{message}; give a smaller --arrival or another trace")));
    }
    if is_above(demand) {
        while is_above(demand) {
            watch.check()?;
            let removed = tasks.swap_remove(generator.below(tasks.len()));
            demand -= trace.demand_milli(removed);
        }
    } else {
        while is_short(demand) {
            watch.check()?;
            let drawn = trace.tasks[generator.below(trace.tasks.len())];
            demand += trace.demand_milli(drawn);
            tasks.push(drawn);
        }
    }
    generator.shuffle(&mut tasks);
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Purpose;
    use hetero_core::mix::MixDocument;
    use hetero_core::request::Choice;

    fn trace(tasks: Vec<usize>) -> Trace {
        let ask = |count, share_milli| Choice { count, share_milli, ..Choice::default() };
        let mix = MixDocument { source: "test".to_owned(), classes: Vec::new() };
        Trace { mix, classes: vec![ask(0, 1000), ask(1, 300), ask(2, 1000)], tasks, times: None }
    }

    fn drawn(trace: &Trace, capacity_milli: u64, arrival_milli: u32) -> Vec<usize> {
        let mut generator = Generator::new(42, Purpose::Arrival);
        arrivals(trace, capacity_milli, arrival_milli, &mut generator, &Watch::default()).expect("enough demand")
    }

    #[test]
    fn all_tasks_arrive_and_more_until_the_demand_is_reached() {
        let trace = trace(vec![0, 0, 1, 2]); // asks for 2300
        let tasks = drawn(&trace, 8000, 1300); // 10400 are wanted
        for class in 0..3 {
            let times = |tasks: &[usize]| tasks.iter().filter(|&&task| task == class).count();
            assert!(times(&tasks) >= times(&trace.tasks));
        }
        let demand: u64 = tasks.iter().map(|&class| trace.demand_milli(class)).sum();
        assert!((10_400..12_400).contains(&demand), "reached, by less than the largest task: {demand}");
        assert_eq!(tasks, drawn(&trace, 8000, 1300));
    }

    #[test]
    fn tasks_are_removed_where_the_trace_asks_for_more() {
        let trace = trace(vec![1; 100]); // asks for 30000
        let tasks = drawn(&trace, 8000, 1300);
        assert_eq!(tasks.len(), 34); // 34 x 300 = 10200, one more would be above 10400
    }

    #[test]
    fn a_trace_that_hardly_asks_is_refused() {
        let mut tasks = vec![0; 10_000];
        tasks.push(1);
        let mut generator = Generator::new(42, Purpose::Arrival);
        let refused =
            arrivals(&trace(tasks), 6_212_000, 1300, &mut generator, &Watch::default()).expect_err("too little");
        assert!(refused.to_string().contains("20 million"), "{refused}");
    }
}
