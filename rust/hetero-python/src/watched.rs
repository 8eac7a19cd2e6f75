//! Long work: while it runs on a thread of its own, the caller's thread looks after signals and shows progress.

use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use hetero_plan::Watch;
use pyo3::prelude::*;

use crate::errors;

/// Time between two looks at signals: Ctrl-C is noticed after this, and heeded before the next decision.
const LOOK: Duration = Duration::from_millis(20);
/// Time between two calls of `progress`.
const TELL: Duration = Duration::from_millis(100);

/// Does the work; a signal that raises, or an exception of `progress(done, expected)`, stops it and is raised.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> hetero_core::Result<T> + Send,
) -> PyResult<T> {
    let caller = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let outcome = work();
            caller.unpark();
            outcome
        });
        let mut told = Instant::now();
        let mut look = || {
            py.check_signals()?;
            if let Some(progress) = progress.filter(|_| told.elapsed() >= TELL) {
                progress.call1(watch.progress())?;
                told = Instant::now();
            }
            Ok(())
        };
        let mut raised: PyResult<()> = Ok(());
        while raised.is_ok() && !worker.is_finished() {
            py.detach(|| thread::park_timeout(LOOK));
            raised = look();
        }
        if raised.is_err() {
            watch.stop();
        }
        let outcome = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        raised?;
        outcome.map_err(errors::to_python)
    })
}
