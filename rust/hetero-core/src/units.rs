//! Indices and quantities. Bookkeeping is integer: MiB, thousandths of a share, milliwatt, MB/s.

/// A core, in thousandths of one.
pub const CORE_MILLI: u64 = 1000;

/// A whole device, in thousandths of a share.
pub const WHOLE_MILLI: u16 = 1000;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The index of the `i`-th entry. Fleets are bounded far below `u32::MAX` entries.
            ///
            /// # Panics
            /// When `i` does not fit in 32 bits.
            pub fn new(i: usize) -> Self {
                Self(u32::try_from(i).expect("a fleet has fewer than 2^32 entries"))
            }

            /// The index as a position in a column.
            pub fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// Position of a node in the fleet's order: by cluster name, then node name.
    NodeIdx
);
index!(
    /// Position of a device kind in the fleet's table of kinds.
    KindIdx
);

/// Memory sizes that accelerators are sold with, GiB, ascending: every size in the catalog that ships with the package.
const NOMINAL_GIB: [u64; 26] =
    [6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 95, 96, 128, 141, 144, 180, 186, 192, 256, 270, 279, 288];

/// The size class that a device which reports `usable_mib` is sold as.
///
/// Devices report up to about 7 % less than the box says (ECC, firmware), so the class is the smallest size on the
/// market within that margin; a size that nobody sells stands for itself.
pub fn nominal_mib(usable_mib: u64) -> u64 {
    NOMINAL_GIB
        .iter()
        .map(|gib| gib * 1024)
        .find(|&class| class >= usable_mib && class * 93 <= usable_mib * 100)
        .unwrap_or(usable_mib)
}

/// Thousandths as a decimal number, without zeros at its end.
pub(crate) fn milli_words(milli: u64) -> String {
    let (whole, rest) = (milli / 1000, milli % 1000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}").trim_end_matches('0').to_owned() }
}

/// A share of an amount; in two parts, so that no amount overflows.
pub fn share_of(amount: u64, share_milli: u64) -> u64 {
    let whole = u64::from(WHOLE_MILLI);
    amount / whole * share_milli + amount % whole * share_milli / whole
}

#[cfg(test)]
mod tests {
    use super::nominal_mib;

    #[test]
    fn a_reported_size_maps_to_the_size_on_the_box() {
        for (reported_mib, gib) in [(81_559, 80), (46_068, 48), (23_028, 24), (15_360, 16), (143_771, 141)] {
            assert_eq!(nominal_mib(reported_mib), gib * 1024, "{reported_mib}");
        }
        assert_eq!(nominal_mib(100), 100);
        assert_eq!(nominal_mib(20_096), 20 * 1024);
    }
}
