//! The receiver of a transport whose acknowledgements have ranges, as those of QUIC.

/// What a receiver has, of which each acknowledgement tells the whole: one that is lost or overtaken is no loss.
#[derive(Default)]
pub(crate) struct Received {
    numbers: Vec<u32>,
    told: usize,
}

impl Received {
    /// One more; how many that makes.
    pub(crate) fn push(&mut self, number: u32) -> u32 {
        self.numbers.push(number);
        self.count()
    }

    pub(crate) fn count(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// The sender hears of the first `count`; those that it has not heard of before.
    pub(crate) fn tell(&mut self, count: u32) -> Vec<u32> {
        let news = self.numbers.get(self.told..count as usize).unwrap_or_default().to_vec();
        self.told += news.len();
        news
    }
}
