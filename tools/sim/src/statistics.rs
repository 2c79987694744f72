//! Mean, confidence interval and quantile.

/// The mean; nothing has 0.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Half the width of the 95 % confidence interval of the mean; with one value there is none.
///
/// Student's t for 95 % with this many degrees of freedom, within 1 % for more than two.
pub(crate) fn confidence(values: &[f64]) -> Option<f64> {
    let freedom = values.len().checked_sub(2)? as f64 + 1.0;
    let mean = mean(values);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom;
    let t = match freedom as u64 {
        1 => 12.706,
        2 => 4.303,
        _ => 1.96 + 2.372 / freedom + 2.823 / freedom.powi(2) + 2.556 / freedom.powi(3),
    };
    Some(t * (variance / values.len() as f64).sqrt())
}

/// The value at or below which this share of all lies, which are in order: the nearest rank. Nothing has 0.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_follows_students_t() {
        // Tables give 4.303, 3.182, 2.262 and 2.045 for 2, 3, 9 and 29 degrees of freedom.
        for (count, t) in [(3, 4.303), (4, 3.182), (10, 2.262), (30, 2.045)] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let mean = mean(&values);
            let deviation =
                (values.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / f64::from(count - 1)).sqrt();
            let expected = t * deviation / f64::from(count).sqrt();
            assert!((confidence(&values).unwrap() / expected - 1.0).abs() < 0.01, "{count}");
        }
        assert_eq!((confidence(&[]), confidence(&[1.0])), (None, None));
    }

    #[test]
    fn quantiles_are_values_by_rank() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        for (share, value) in [(0.0, 1.0), (0.5, 100.0), (0.99, 198.0), (0.999, 200.0), (1.0, 200.0)] {
            assert_eq!(quantile(&values, share), value);
        }
        assert_eq!((quantile(&[3.0], 0.99), quantile(&[], 0.5)), (3.0, 0.0));
    }
}
