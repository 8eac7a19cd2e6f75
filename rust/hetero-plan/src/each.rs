//! Many questions about one state of a fleet, each answered as if it were the only one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use hetero_core::{Decision, Fleet, Question, Request, Result, place};
use rayon::prelude::*;

use crate::trace::refuse;

/// Fewer requests are answered one after the other: threads cost more than they save.
const LEAST_IN_PARALLEL: usize = 32;

/// The decision of each request, in their order. Changes nothing, and none depends on another.
///
/// `threads` is 0 for one a core; answers do not depend on it. The pool ends with the call, so that a process which was
/// forked from this one never waits for threads that it does not have.
pub fn place_each(
    fleet: &Fleet,
    requests: &[&Request],
    question: &Question,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Vec<Decision>> {
    let one = |fleet: &Fleet, request: &Request| {
        if stop.load(Ordering::Relaxed) {
            return Err(refuse("stopped before all were placed".to_owned()));
        }
        place(fleet, request, question)
    };
    if requests.len() < LEAST_IN_PARALLEL || threads == 1 {
        return requests.iter().map(|request| one(fleet, request)).collect();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| refuse(format!("threads: {e}; ask for fewer")))?;
    // What a fleet remembers between decisions is for one thread at a time, so each has a copy of its own.
    let copies: Vec<OnceLock<Fleet>> = vec![OnceLock::new(); pool.current_num_threads()];
    let of_thread = || match rayon::current_thread_index() {
        None | Some(0) => fleet,
        Some(index) => copies[index].get_or_init(|| fleet.clone()),
    };
    pool.install(|| requests.par_iter().map(|request| one(of_thread(), request)).collect())
}
