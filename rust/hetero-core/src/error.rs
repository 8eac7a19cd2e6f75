//! What can go wrong. No fit is not an error: it is a [`crate::NoFit`].

use crate::hold::HoldId;

/// The result of an operation of the core.
pub type Result<T> = std::result::Result<T, Error>;

/// Broken input or a broken promise; each message says what, where and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document that cannot be read: unknown key, wrong type, a node named twice.
    #[error("{message}")]
    InvalidDocument {
        /// What is wrong and how to mend it.
        message: String,
        /// Where, as `clusters[0].nodes[2].cpu_milli`; empty for the whole document.
        path: String,
        /// The 1-based line of the JSON text, where the reader knows it.
        line: Option<usize>,
    },
    /// A request that the core cannot use.
    #[error("{message}")]
    InvalidRequest {
        /// What is wrong and how to mend it.
        message: String,
    },
    /// A hold that was never taken or is gone.
    #[error("hold {hold} is not held: it was never taken, or was released already")]
    UnknownHold {
        /// The hold asked for.
        hold: HoldId,
    },
    /// A placement that no longer holds, because something it names changed.
    #[error("{what} changed since the placement was made; place again")]
    StalePlacement {
        /// The node or device that changed.
        what: String,
    },
    /// A long work was told to stop.
    #[error("stopped before the end, as asked")]
    Interrupted,
}

impl Error {
    /// A document error at a place.
    pub(crate) fn document(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::InvalidDocument { message: message.into(), path: path.into(), line: None }
    }
}
