//! Which step is over before which begins.

/// A strict order of steps, with all that follows from it.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    count: usize,
    /// Of each step, whether each other comes after it.
    before: Vec<bool>,
}

impl Order {
    /// No step before another.
    pub(crate) fn new(count: usize) -> Self {
        Self { count, before: vec![false; count * count] }
    }

    /// What times say: who ends until another begins is before it.
    pub(crate) fn of_times(times: &[(u64, u64)]) -> Self {
        let mut order = Self::new(times.len());
        for (one, (_, end)) in times.iter().enumerate() {
            for (other, (start, _)) in times.iter().enumerate() {
                order.set(one, other, end <= start);
            }
        }
        order
    }

    /// Says whether a step is before another; times tell the rest.
    pub(crate) fn set(&mut self, one: usize, other: usize, is_before: bool) {
        self.before[one * self.count + other] = is_before;
    }

    pub(crate) fn is_before(&self, one: usize, other: usize) -> bool {
        self.before[one * self.count + other]
    }

    /// Puts a step before another, and so all that is before the one before all that is after the other.
    pub(crate) fn put(&mut self, one: usize, other: usize) {
        if self.is_before(one, other) {
            return;
        }
        let first: Vec<usize> = (0..self.count).filter(|&at| at == one || self.is_before(at, one)).collect();
        let last: Vec<usize> = (0..self.count).filter(|&at| at == other || self.is_before(other, at)).collect();
        for at in first {
            for &later in &last {
                self.set(at, later, true);
            }
        }
    }

    /// By step: when it begins and ends where each begins as soon as those before it are over.
    pub(crate) fn earliest(&self, ticks: &[u64]) -> Vec<(u64, u64)> {
        let mut times = vec![(0, 0); self.count];
        for at in self.sorted() {
            let start = (0..self.count).filter(|&other| self.is_before(other, at)).map(|other| times[other].1).max();
            times[at] = (start.unwrap_or(0), start.unwrap_or(0) + ticks[at]);
        }
        times
    }

    /// By step: the longest way from its begin to the end of the pipeline.
    pub(crate) fn tails(&self, ticks: &[u64]) -> Vec<u64> {
        let mut tails = vec![0; self.count];
        for at in self.sorted().into_iter().rev() {
            let rest = (0..self.count).filter(|&other| self.is_before(at, other)).map(|other| tails[other]).max();
            tails[at] = ticks[at] + rest.unwrap_or(0);
        }
        tails
    }

    /// The steps, each after those before it.
    fn sorted(&self) -> Vec<usize> {
        let ahead = |at: usize| (0..self.count).filter(|&other| self.is_before(other, at)).count();
        let mut sorted: Vec<usize> = (0..self.count).collect();
        sorted.sort_by_cached_key(|&at| ahead(at)); // who is before another has fewer before it
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_known() {
        let mut order = Order::new(4);
        order.put(0, 1);
        order.put(2, 3);
        assert!(!order.is_before(0, 3));
        order.put(1, 2);
        assert!(order.is_before(0, 3) && order.is_before(0, 2) && !order.is_before(3, 0));
        assert_eq!(order.earliest(&[5, 1, 1, 1]), [(0, 5), (5, 6), (6, 7), (7, 8)]);
        assert_eq!(order.tails(&[5, 1, 1, 2]), [9, 4, 3, 2]);
    }

    #[test]
    fn who_ends_when_another_begins_is_before_it() {
        let order = Order::of_times(&[(0, 5), (5, 6), (4, 9)]);
        assert!(order.is_before(0, 1) && !order.is_before(0, 2) && !order.is_before(2, 1));
    }
}
