//! Median, minimum and maximum of a few values.

/// A summary of some values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Statistics {
    /// How many there are, one at least.
    pub count: usize,
    /// The median; of an even number the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Statistics {
    /// `None` without values, or if one is no number.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let upper = *sorted.get(middle)?;
        let lower = if sorted.len().is_multiple_of(2) { *sorted.get(middle.checked_sub(1)?)? } else { upper };
        Some(Self { count: sorted.len(), median: f64::midpoint(lower, upper), min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle_and_a_value_that_is_no_number_has_none() {
        let of = |values: &[f64]| Statistics::of(values).map(|it| (it.median, it.min, it.max));
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some((2.0, 1.0, 3.0)));
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]), Some((2.5, 1.0, 4.0)));
        assert_eq!((of(&[]), of(&[1.0, f64::NAN])), (None, None));
    }
}
