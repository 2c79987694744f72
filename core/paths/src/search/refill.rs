//! Vectors reset in place, without a new allocation.

/// Sets it to `len` times `value`, in its present memory.
pub(crate) fn refill<T: Clone>(values: &mut Vec<T>, len: usize, value: T) {
    values.clear();
    values.resize(len, value);
}
