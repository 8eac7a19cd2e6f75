//! Digests of what a decision depends on. SHA-256, so that they are the same on every platform and version.

use sha2::{Digest as _, Sha256};

/// 128 bits are plenty to tell states apart, and short enough to read.
pub type Digest = [u8; 16];

/// Collects fields, each with its length, so that no two lists of fields look alike.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// A hasher for one purpose; `purpose` keeps digests of different things apart.
    pub fn new(purpose: &str) -> Self {
        Self::default().text(purpose)
    }

    /// Adds bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, number: u64) -> Self {
        self.0.update(number.to_le_bytes());
        self
    }

    /// Adds a number that may be unknown; unknown differs from every number.
    #[must_use]
    pub fn maybe(self, number: Option<u64>) -> Self {
        match number {
            None => self.number(0),
            Some(number) => self.number(1).number(number),
        }
    }

    /// The first half of the SHA-256.
    pub fn finish(self) -> Digest {
        let mut short = Digest::default();
        short.copy_from_slice(&self.0.finalize()[..16]);
        short
    }
}

/// Lower-case hexadecimal.
pub fn hex(digest: Digest) -> String {
    format!("{:032x}", u128::from_be_bytes(digest))
}
