//! A linear programme that grows by columns: maximise `c x` with `A x <= b` and `x >= 0`, where `b >= 0`.
//!
//! The primal simplex method with the inverse of the basis as a dense matrix: there are a few hundred rows, columns are short,
//! and each solution is the start of the next one. A crate would have to be handed the whole programme each time.

use std::time::Duration;

use crate::batch::control::Control;

const TOLERANCE: f64 = 1e-9;
/// A pivot smaller than this is taken for 0.
const LEAST_PIVOT: f64 = 1e-7;
/// Changes of the basis before the inverse is computed anew.
const STALE: usize = 2000;

/// A column: what it earns, and its entries by row.
#[derive(Clone, Debug)]
struct Column {
    gain: f64,
    entries: Vec<(usize, f64)>,
}

/// The programme and its last solution.
#[derive(Debug)]
pub(crate) struct Simplex {
    limits: Vec<f64>,
    columns: Vec<Column>,
    /// By row: the variable in the basis; the slack of row `i` is `i`, column `j` is `rows + j`.
    basis: Vec<usize>,
    is_basic: Vec<bool>,
    /// Row by row.
    inverse: Vec<f64>,
    changes: usize,
}

impl Simplex {
    /// A programme without columns.
    ///
    /// The limits are moved apart by less than a millionth, so that ties between rows do not make it go in circles.
    pub(crate) fn new(limits: &[f64]) -> Self {
        let rows = limits.len();
        let mut inverse = vec![0.0; rows * rows];
        (0..rows).for_each(|row| inverse[row * rows + row] = 1.0);
        let apart =
            |(row, limit): (usize, &f64)| limit + 1e-7 * (1.0 + limit) * ((row * 7919 % 997 + 1) as f64 / 997.0);
        Self {
            limits: limits.iter().enumerate().map(apart).collect(),
            columns: Vec::new(),
            basis: (0..rows).collect(),
            is_basic: vec![true; rows],
            inverse,
            changes: 0,
        }
    }

    fn rows(&self) -> usize {
        self.limits.len()
    }

    /// Adds a column.
    pub(crate) fn add(&mut self, gain: f64, entries: Vec<(usize, f64)>) {
        self.columns.push(Column { gain, entries });
        self.is_basic.push(false);
    }

    /// What a variable earns.
    fn gain(&self, variable: usize) -> f64 {
        if variable < self.rows() { 0.0 } else { self.columns[variable - self.rows()].gain }
    }

    /// The values of the basis, by row.
    fn values(&self) -> Vec<f64> {
        let dot = |row: &[f64]| row.iter().zip(&self.limits).map(|(a, b)| a * b).sum();
        self.inverse.chunks_exact(self.rows()).map(dot).collect()
    }

    /// The prices of the rows.
    fn prices(&self) -> Vec<f64> {
        let mut prices = vec![0.0; self.rows()];
        for (&variable, row) in self.basis.iter().zip(self.inverse.chunks_exact(self.rows())) {
            let gain = self.gain(variable);
            if gain != 0.0 {
                prices.iter_mut().zip(row).for_each(|(price, entry)| *price += gain * entry);
            }
        }
        prices
    }

    /// Solves from the last solution on; the prices of the rows. Stops early at the deadline, with the prices so far.
    pub(crate) fn solve(&mut self, control: &Control<'_>, deadline: Duration) -> Vec<f64> {
        let rows = self.rows();
        let (mut values, mut prices) = (self.values(), self.prices());
        for pivot in 0..50 * rows + 1000 {
            if pivot % 16 == 0 && control.is_over(deadline) {
                break;
            }
            if self.changes >= STALE {
                self.invert();
                (values, prices) = (self.values(), self.prices());
            }
            let Some((entering, worth)) = self.best(&prices) else { break };
            let direction = self.direction(entering);
            let Some(leaving) = leaving(&values, &direction) else { break };
            let length = values[leaving] / direction[leaving];
            values.iter_mut().zip(&direction).for_each(|(value, step)| *value = (*value - length * step).max(0.0));
            values[leaving] = length;
            self.exchange(entering, leaving, &direction);
            let row = &self.inverse[leaving * rows..(leaving + 1) * rows];
            prices.iter_mut().zip(row).for_each(|(price, entry)| *price += worth * entry);
        }
        prices
    }

    /// The variable that earns most beyond the prices of what it takes.
    fn best(&self, prices: &[f64]) -> Option<(usize, f64)> {
        let slacks = prices.iter().enumerate().map(|(row, price)| (row, -price));
        let worth =
            |column: &Column| column.gain - column.entries.iter().map(|&(row, entry)| prices[row] * entry).sum::<f64>();
        let columns = self.columns.iter().enumerate().map(|(at, column)| (self.rows() + at, worth(column)));
        let able = slacks.chain(columns).filter(|&(variable, worth)| worth > TOLERANCE && !self.is_basic[variable]);
        able.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    fn direction(&self, variable: usize) -> Vec<f64> {
        let rows = self.rows();
        if variable < rows {
            return (0..rows).map(|row| self.inverse[row * rows + variable]).collect();
        }
        let entries = &self.columns[variable - rows].entries;
        let dot = |row: &[f64]| entries.iter().map(|&(at, entry)| row[at] * entry).sum();
        self.inverse.chunks_exact(rows).map(dot).collect()
    }

    fn exchange(&mut self, entering: usize, leaving: usize, direction: &[f64]) {
        let rows = self.rows();
        let pivot = direction[leaving];
        let mut row = self.inverse[leaving * rows..(leaving + 1) * rows].to_vec();
        for entry in &mut row {
            *entry /= pivot;
        }
        for (at, other) in self.inverse.chunks_exact_mut(rows).enumerate() {
            if at == leaving {
                other.copy_from_slice(&row);
            } else if direction[at] != 0.0 {
                other.iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= direction[at] * pivot);
            }
        }
        self.is_basic[self.basis[leaving]] = false;
        self.is_basic[entering] = true;
        self.basis[leaving] = entering;
        self.changes += 1;
    }

    /// Computes the inverse from the basis: rounding adds up over many changes.
    fn invert(&mut self) {
        let rows = self.rows();
        let basis = std::mem::replace(&mut self.basis, (0..rows).collect());
        self.inverse.fill(0.0);
        (0..rows).for_each(|row| self.inverse[row * rows + row] = 1.0);
        self.is_basic.fill(false);
        self.is_basic[..rows].fill(true);
        let mut is_free: Vec<bool> = vec![true; rows];
        basis.iter().filter(|&&variable| variable < rows).for_each(|&row| is_free[row] = false);
        for &variable in basis.iter().filter(|&&variable| variable >= rows) {
            let direction = self.direction(variable);
            let free = (0..rows).filter(|&row| is_free[row]);
            let row = free.max_by(|&a, &b| direction[a].abs().total_cmp(&direction[b].abs()));
            if let Some(row) = row.filter(|&row| direction[row].abs() > LEAST_PIVOT) {
                is_free[row] = false;
                self.exchange(variable, row, &direction);
            }
        }
        self.changes = 0;
    }

    /// How much of each column the last solution takes.
    pub(crate) fn solution(&self) -> Vec<f64> {
        let mut solution = vec![0.0; self.columns.len()];
        for (&variable, value) in self.basis.iter().zip(self.values()) {
            if variable >= self.rows() {
                solution[variable - self.rows()] = value.max(0.0);
            }
        }
        solution
    }

    /// What the last solution earns.
    pub(crate) fn total(&self) -> f64 {
        self.basis.iter().zip(self.values()).map(|(&variable, value)| self.gain(variable) * value).sum()
    }
}

/// The row that is used up first; of several the one with the largest pivot.
fn leaving(values: &[f64], direction: &[f64]) -> Option<usize> {
    let able = (0..values.len()).filter(|&row| direction[row] > LEAST_PIVOT);
    let ratio = |row: usize| values[row] / direction[row];
    let least = able.clone().map(ratio).min_by(f64::total_cmp)?;
    able.filter(|&row| ratio(row) <= least + 1e-12)
        .max_by(|&a, &b| direction[a].total_cmp(&direction[b]).then(b.cmp(&a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Watch;

    fn solved(simplex: &mut Simplex) -> Vec<f64> {
        simplex.solve(&Control { now: &|| Duration::ZERO, watch: &Watch::default() }, Duration::MAX)
    }

    #[test]
    fn a_programme_of_the_textbook() {
        // max 3x + 5y, x <= 4, 2y <= 12, 3x + 2y <= 18: x = 2, y = 6, prices 0, 1.5, 1 (Hillier and Lieberman).
        let mut simplex = Simplex::new(&[4.0, 12.0, 18.0]);
        simplex.add(3.0, vec![(0, 1.0), (2, 3.0)]);
        simplex.add(5.0, vec![(1, 2.0), (2, 2.0)]);
        let prices = solved(&mut simplex);
        let is_near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(is_near(&prices, &[0.0, 1.5, 1.0]), "{prices:?}");
        assert!(is_near(&simplex.solution(), &[2.0, 6.0]), "{:?}", simplex.solution());
        assert!((simplex.total() - 36.0).abs() < 1e-4);
    }

    #[test]
    fn a_new_column_goes_on_from_the_last_solution() {
        let mut simplex = Simplex::new(&[10.0, 10.0]);
        simplex.add(1.0, vec![(0, 1.0)]);
        solved(&mut simplex);
        assert!((simplex.total() - 10.0).abs() < 1e-4);
        simplex.add(3.0, vec![(0, 1.0), (1, 1.0)]);
        solved(&mut simplex);
        assert!((simplex.total() - 30.0).abs() < 1e-4);
        simplex.invert();
        assert!((simplex.total() - 30.0).abs() < 1e-4, "the same from the basis anew");
    }
}
