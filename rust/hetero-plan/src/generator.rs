//! Random numbers that a seed repeats on every machine: `SplitMix64` (Steele, Lea and Flood, "Fast Splittable
//! Pseudorandom Number Generators", OOPSLA 2014).

/// The step between states: 2^64 over the golden ratio, made odd.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// What the numbers of one seed are drawn for; each purpose has a sequence of its own, so that policies which draw do not
/// change what arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Which tasks arrive, and in which order.
    Arrival = 1,
    /// In which order nodes win ties.
    Ties = 2,
    /// What a policy draws.
    Choice = 3,
    /// Which nodes a plan of many steps tries anew.
    Plan = 4,
}

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Generator(u64);

impl Generator {
    /// The sequence of a seed for one purpose.
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        Self(mixed(mixed(seed).wrapping_add(purpose as u64)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// Another sequence, that goes on beside this one.
    pub(crate) fn split(&mut self) -> Self {
        Self(mixed(self.next()))
    }

    /// A number below `bound`, all equally likely. `bound` is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let fair = u64::MAX - u64::MAX % bound; // numbers from here on would favour small remainders
        loop {
            let drawn = self.next();
            if drawn < fair {
                return usize::try_from(drawn % bound).expect("below a usize");
            }
        }
    }

    /// Every order equally likely (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

fn mixed(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // The first numbers of state 0, as the reference implementation gives them.
        let mut generator = Generator(0);
        assert_eq!(generator.next(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(generator.next(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn a_seed_repeats_and_purposes_differ() {
        let drawn = |seed, purpose| {
            let mut generator = Generator::new(seed, purpose);
            (0..8).map(|_| generator.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(42, Purpose::Ties), drawn(42, Purpose::Ties));
        assert_ne!(drawn(42, Purpose::Ties), drawn(43, Purpose::Ties));
        assert_ne!(drawn(42, Purpose::Ties), drawn(42, Purpose::Choice));
    }

    #[test]
    fn a_shuffle_keeps_all_and_every_place_is_reached() {
        let mut generator = Generator::new(1, Purpose::Ties);
        let mut first_at = [0; 4];
        for _ in 0..4000 {
            let mut items = [0, 1, 2, 3];
            generator.shuffle(&mut items);
            first_at[items.iter().position(|&item| item == 0).expect("kept")] += 1;
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2, 3]);
        }
        assert!(first_at.iter().all(|&times| (850..1150).contains(&times)), "{first_at:?}");
    }
}
