//! Long work that Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors;

/// How often signals are looked at.
const PERIOD: Duration = Duration::from_millis(25);

/// Runs work on a thread of its own, detached from the interpreter, while this one looks for signals. Upon one the flag that
/// the work got is set; when the work has ended, what the handler raised is raised.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> hetero_core::Result<T> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let (done, raised) = py.detach(|| {
        let (sender, receiver) = sync_channel(1);
        std::thread::scope(|scope| {
            let stop = &stop;
            let worker = scope.spawn(move || {
                let done = work(stop);
                let _ = sender.send(()); // nobody listens once a signal came
                done
            });
            let mut raised = None;
            while raised.is_none() && receiver.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                #[allow(clippy::redundant_closure_for_method_calls)] // the method is not general enough
                let looked = Python::attach(|py| py.check_signals());
                raised = looked.err();
            }
            if raised.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
            let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (done, raised)
        })
    });
    match raised {
        Some(error) => Err(error),
        None => done.map_err(errors::to_python),
    }
}
