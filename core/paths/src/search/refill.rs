//! Vectors reset in place, without a new allocation.

/// Makes it `len` times `value`, in the memory that it has.
pub(crate) fn refill<T: Clone>(values: &mut Vec<T>, len: usize, value: T) {
    values.clear();
    values.resize(len, value);
}
