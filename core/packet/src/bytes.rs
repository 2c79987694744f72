//! Reading big-endian fields without a panic, and padding what is sent.

/// The shortest Ethernet frame without its check sequence. IEEE 802.3 §4A.4.2.
const MIN_FRAME: usize = 60;

/// Takes fields off the front of a byte string; `None` once it is too short.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

/// Zeroes after the payload, for switches that do not pad what a controller sends.
pub(crate) fn pad_frame(frame: &mut Vec<u8>) {
    if frame.len() < MIN_FRAME {
        frame.resize(MIN_FRAME, 0);
    }
}
