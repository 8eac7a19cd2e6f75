//! Measured throughput by workload: it outranks whatever a profile predicts.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::request::{Choice, Request};
use crate::units::WHOLE_MILLI;

/// Precisions in which a step runs that asks none, where the table tells them apart.
const FREE: [&str; 3] = ["bf16", "fp16", "fp32"];

/// One measurement: so many devices of a model at one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredRow {
    /// What ran.
    pub workload: String,
    /// Catalog keys of the devices that it was measured on.
    pub skus: Vec<String>,
    /// Models outside the catalog that it was measured on.
    pub models: Vec<String>,
    /// How many devices ran it together.
    pub devices: u32,
    /// Precision; `None` where the table does not tell it.
    pub precision: Option<String>,
    /// Work per second of all of them together, in the workload's own unit; 0 where it could not run.
    pub throughput: f64,
}

/// Measurements, and where they come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredTable {
    /// What answers name as their source, as `table throughputs.csv`.
    pub source: String,
    /// The measurements.
    pub rows: Vec<MeasuredRow>,
}

/// A table that can be asked.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    table: MeasuredTable,
    by_workload: IndexMap<String, Vec<usize>>,
    digest: Digest,
}

/// A model, by its catalog key or by its name.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// Catalog key.
    pub sku: Option<&'a str>,
    /// Name, for what the catalog does not have.
    pub name: Option<&'a str>,
}

/// What a number of devices reaches, and how many of them were measured together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// Work per second.
    pub throughput: f64,
    /// Devices that were measured; fewer than asked where the rest is extrapolated in proportion.
    pub devices: u32,
}

impl Measured {
    /// A table whose figures are numbers that can be compared.
    pub fn new(table: MeasuredTable) -> Result<Self> {
        let mut by_workload: IndexMap<String, Vec<usize>> = IndexMap::new();
        let mut hasher = Hasher::new("measured").text(&table.source);
        for (at, row) in table.rows.iter().enumerate() {
            if !row.throughput.is_finite() || row.throughput < 0.0 || row.devices == 0 {
                let message = format!("{}: {} needs a count and a throughput from 0", table.source, row.workload);
                return Err(Error::document(format!("rows[{at}]"), message));
            }
            by_workload.entry(row.workload.clone()).or_default().push(at);
            hasher = hasher.text(&row.workload).number(u64::from(row.devices)).number(row.throughput.to_bits());
            hasher = hasher.text(row.precision.as_deref().unwrap_or("")).number(row.skus.len() as u64);
            hasher = row.skus.iter().chain(&row.models).fold(hasher, |hasher, name| hasher.text(name));
        }
        Ok(Self { table, by_workload, digest: hasher.finish() })
    }

    /// The table as it was given.
    pub fn table(&self) -> &MeasuredTable {
        &self.table
    }

    /// What answers name as the source.
    pub fn source(&self) -> &str {
        &self.table.source
    }

    /// Adds the table to the digest of a question that it may answer.
    pub(crate) fn digested(&self, request: &Request, hasher: Hasher) -> Hasher {
        let is_asked = |choice: &Choice| choice.workload.as_ref().is_some_and(|key| self.by_workload.contains_key(key));
        if request.choices.iter().any(is_asked) { hasher.bytes(&self.digest) } else { hasher }
    }

    /// What `devices` of a model reach at a workload in a precision, `None` being a row that tells no precision.
    ///
    /// So many devices as were measured together; else the most that were, fewer than asked, in proportion.
    pub fn reached(&self, workload: &str, model: Model<'_>, devices: u32, precision: Option<&str>) -> Option<Reached> {
        let is_of = |row: &MeasuredRow| match model.sku {
            Some(sku) => row.skus.iter().any(|known| known == sku),
            None => model.name.is_some_and(|name| row.models.iter().any(|known| known == name)),
        };
        let rows = self.by_workload.get(workload)?.iter().map(|&at| &self.table.rows[at]);
        let fitting = rows.filter(|row| row.devices <= devices && row.precision.as_deref() == precision && is_of(row));
        let best = fitting.max_by(|a, b| a.devices.cmp(&b.devices).then(a.throughput.total_cmp(&b.throughput)))?;
        let throughput = best.throughput * f64::from(devices) / f64::from(best.devices);
        Some(Reached { throughput, devices: best.devices })
    }

    /// What a choice reaches on a model, in the precision that it asks.
    pub fn of_choice(&self, choice: &Choice, model: Model<'_>) -> Option<Reached> {
        let workload = choice.workload.as_deref().filter(|_| is_whole(choice))?;
        pairs(choice, choice).into_iter().find_map(|(word, _)| self.reached(workload, model, choice.total(), word))
    }

    /// The most that any model in the table reaches as a choice runs it.
    pub fn most(&self, choice: &Choice) -> Option<f64> {
        let rows = self.by_workload.get(choice.workload.as_ref()?)?.iter().map(|&at| &self.table.rows[at]);
        let names = rows.flat_map(|row| {
            let skus = row.skus.iter().map(|sku| Model { sku: Some(sku), name: None });
            skus.chain(row.models.iter().map(|name| Model { sku: None, name: Some(name) }))
        });
        names.filter_map(|model| self.of_choice(choice, model)).map(|reached| reached.throughput).max_by(f64::total_cmp)
    }

    /// Speed of a choice on a model relative to the first choice, whose yardstick is its fastest measured model.
    ///
    /// Also the fewest devices measured for either side, where that is fewer than asked.
    pub fn ratio(&self, first: &Choice, granted: &Choice, model: Model<'_>) -> Option<(f64, Option<u32>)> {
        let workload = granted.workload.as_deref().filter(|_| is_whole(first) && is_whole(granted))?;
        let named = || first.names.iter().filter(|name| name.partition.is_none());
        pairs(first, granted).into_iter().find_map(|(first_word, word)| {
            let skus = named().flat_map(|name| &name.skus).map(|sku| Model { sku: Some(sku), name: None });
            let models = named().flat_map(|name| &name.models).map(|name| Model { sku: None, name: Some(name) });
            let yardsticks = skus.chain(models).filter_map(|m| self.reached(workload, m, first.total(), first_word));
            let yardstick = yardsticks
                .max_by(|a, b| a.throughput.total_cmp(&b.throughput).then(a.devices.cmp(&b.devices)))
                .filter(|yardstick| yardstick.throughput > 0.0)?;
            let reached = self.reached(workload, model, granted.total(), word)?;
            let scaled = [(yardstick, first), (reached, granted)].into_iter();
            let scaled = scaled.filter(|(side, choice)| side.devices < choice.total()).map(|(side, _)| side.devices);
            Some((reached.throughput / yardstick.throughput, scaled.min()))
        })
    }
}

/// Parts of a device were not measured.
fn is_whole(choice: &Choice) -> bool {
    choice.share_milli == WHOLE_MILLI && choice.share_memory_mib.is_none() && choice.count > 0
}

/// The precisions in which two choices are compared, the likeliest first. A row that tells none counts only where both
/// run in the same.
fn pairs<'a>(first: &'a Choice, granted: &'a Choice) -> Vec<(Option<&'a str>, Option<&'a str>)> {
    let asked = |choice: &'a Choice| choice.precisions.first().map(|need| need.word.as_str());
    match (asked(first), asked(granted)) {
        (Some(a), Some(b)) if a != b => vec![(Some(a), Some(b))],
        (Some(word), _) | (_, Some(word)) => vec![(Some(word), Some(word)), (None, None)],
        (None, None) => {
            let free = FREE.into_iter().map(|word| (Some(word), Some(word)));
            std::iter::once((None, None)).chain(free).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Name, Path, PrecisionNeed};

    fn row(sku: &str, devices: u32, precision: Option<&str>, throughput: f64) -> MeasuredRow {
        let (workload, skus) = ("w".to_owned(), vec![sku.to_owned()]);
        MeasuredRow { workload, skus, models: Vec::new(), devices, precision: precision.map(str::to_owned), throughput }
    }

    fn table(rows: Vec<MeasuredRow>) -> Measured {
        Measured::new(MeasuredTable { source: "table t".to_owned(), rows }).expect("good figures")
    }

    fn choice(sku: &str, count: u32, precision: Option<&str>) -> Choice {
        let skus = vec![sku.to_owned()];
        let name = Name { skus, models: Vec::new(), is_any_model: false, vendor: None, partition: None };
        let need = |word: &str| PrecisionNeed { word: word.to_owned(), path: Path::Native };
        let precisions = precision.map(need).into_iter().collect();
        let workload = Some("w".to_owned());
        Choice { names: vec![name], count, share_milli: WHOLE_MILLI, precisions, workload, ..Choice::default() }
    }

    fn sku(sku: &str) -> Model<'_> {
        Model { sku: Some(sku), name: None }
    }

    #[test]
    fn as_many_devices_as_were_measured_else_in_proportion() {
        let table = table(vec![row("V100", 1, None, 10.0), row("V100", 4, None, 30.0)]);
        let reached = |devices| table.reached("w", sku("V100"), devices, None).map(|r| (r.throughput, r.devices));
        assert_eq!(reached(1), Some((10.0, 1)));
        assert_eq!(reached(2), Some((20.0, 1)));
        assert_eq!(reached(4), Some((30.0, 4)));
        assert_eq!(reached(8), Some((60.0, 4)));
        assert_eq!(table.reached("w", sku("P100"), 1, None), None);
        assert_eq!(table.reached("other", sku("V100"), 1, None), None);
    }

    #[test]
    fn a_slower_new_card_is_slower() {
        let table = table(vec![row("V100", 1, None, 4.3), row("P100", 1, None, 10.0)]);
        let ratio = table.ratio(&choice("P100", 1, None), &choice("V100", 1, None), sku("V100"));
        assert_eq!(ratio, Some((0.43, None)));
        assert_eq!(table.most(&choice("V100", 1, None)), Some(10.0));
    }

    #[test]
    fn a_table_without_precisions_says_nothing_of_quantizing() {
        let table = table(vec![row("V100", 1, None, 4.0), row("P100", 1, None, 2.0)]);
        let (first, int8) = (choice("V100", 1, Some("fp16")), choice("P100", 1, Some("int8")));
        assert_eq!(table.ratio(&first, &int8, sku("P100")), None);
        assert_eq!(table.ratio(&first, &choice("P100", 1, None), sku("P100")), Some((0.5, None)));
    }

    #[test]
    fn what_could_not_run_is_no_yardstick_and_has_no_speed() {
        let table = table(vec![row("V100", 1, None, 4.0), row("P100", 1, None, 0.0)]);
        let (v100, p100) = (choice("V100", 1, None), choice("P100", 1, None));
        assert_eq!(table.ratio(&v100, &p100, sku("P100")), Some((0.0, None)));
        assert_eq!(table.ratio(&p100, &v100, sku("V100")), None);
    }

    #[test]
    fn a_share_was_not_measured() {
        let table = table(vec![row("V100", 1, None, 4.0)]);
        let half = Choice { share_milli: 500, ..choice("V100", 1, None) };
        assert_eq!(table.ratio(&choice("V100", 1, None), &half, sku("V100")), None);
    }

    #[test]
    fn figures_that_cannot_be_compared_are_refused() {
        for row in [row("V100", 0, None, 1.0), row("V100", 1, None, f64::NAN), row("V100", 1, None, -1.0)] {
            let table = MeasuredTable { source: "table t".to_owned(), rows: vec![row] };
            assert!(Measured::new(table).is_err());
        }
    }
}
