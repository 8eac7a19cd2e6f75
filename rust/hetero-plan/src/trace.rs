//! A trace: tasks in the order of the file, each of one of a few classes.

use hetero_core::mix::{MixDocument, TaskClass};
use hetero_core::request::Choice;
use hetero_core::{Error, Result};
use serde::Deserialize;

/// Tasks of a trace, and the mix that fragmentation is measured against.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The mix: the trace's own most popular classes, or another.
    pub mix: MixDocument,
    /// What tasks ask for, each once.
    pub classes: Vec<Choice>,
    /// Per task: its place in `classes`.
    pub tasks: Vec<usize>,
    /// Per task: when it came, how long it ran and how urgent it was; `None` where the trace does not tell.
    #[serde(default)]
    pub times: Option<Vec<TaskTimes>>,
}

/// When a task came, and how it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTimes {
    /// When it was created, seconds since the start of the trace.
    pub arrives_s: u64,
    /// How long it ran; `None` for one that never ran.
    pub lasts_s: Option<u64>,
    /// Higher comes first.
    pub priority: u8,
}

impl Trace {
    /// Reads the JSON form. Every task has a class, and at least one asks for a device.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let trace: Self = serde_json::from_slice(text).map_err(|e| refuse(format!("trace: {e}")))?;
        if trace.tasks.iter().any(|&class| class >= trace.classes.len()) {
            return Err(refuse("trace: a task is of a class that is not there".to_owned()));
        }
        if trace.tasks.iter().all(|&class| trace.demand_milli(class) == 0) {
            return Err(refuse("trace: no task asks for a device, so demand cannot reach any capacity".to_owned()));
        }
        if trace.times.as_ref().is_some_and(|times| times.len() != trace.tasks.len()) {
            return Err(refuse("trace: there are not as many times as tasks".to_owned()));
        }
        for choice in &trace.classes {
            let is_whole = choice.share_milli == 1000;
            if choice.share_milli == 0 || choice.share_milli > 1000 || (choice.count > 1 && !is_whole) {
                let message = "a share is 1 to 1000 thousandths, and a whole device where several are asked";
                return Err(refuse(format!("trace: {}: {message}", choice.label)));
            }
            if choice.count > 1 && choice.link.is_some() {
                return Err(refuse(format!("trace: {}: tasks of a trace ask for no link", choice.label)));
            }
        }
        Ok(trace)
    }

    /// The mix of all tasks, the rare ones included.
    pub(crate) fn whole_mix(&self) -> MixDocument {
        let mut weights = vec![0; self.classes.len()];
        self.tasks.iter().for_each(|&class| weights[class] += 1);
        let classes = self.classes.iter().zip(weights);
        let classes = classes.map(|(choice, weight)| TaskClass { choice: choice.clone(), weight });
        MixDocument { source: self.mix.source.clone(), classes: classes.collect() }
    }

    /// What a task of a class asks of devices, thousandths of one.
    pub fn demand_milli(&self, class: usize) -> u64 {
        let choice = &self.classes[class];
        u64::from(choice.count) * u64::from(choice.share_milli)
    }
}

pub(crate) fn refuse(message: String) -> Error {
    Error::InvalidDocument { message, path: String::new(), line: None }
}
