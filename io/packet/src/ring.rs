//! The receive ring shared with the kernel (`TPACKET_V2`): its slots, their ownership, and frames in them.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::libc;

use crate::{HEADER, PacketSocket};

/// What the kernel puts before a frame: its header, an address, room to align.
const OVERHEAD: u32 = 96;
/// One page or more in a block, so that slots never lie across two.
const BLOCK: u32 = 1 << 16;

/// Frames that a socket received, in memory shared with the kernel: `TPACKET_V2` of `packet(7)`.
///
/// Version 3 hands over blocks, a millisecond late when there is little to hand over; version 2 each frame as it
/// arrives, for the same price here.
///
/// A slot belongs to the kernel or to the program, as its status says. Each side passes it on with a release and takes
/// it with an acquire, in the order of the slots.
#[derive(Debug)]
pub struct Ring {
    memory: NonNull<u8>,
    slot_size: u32,
    slots: u32,
    next: u32,
}

/// A frame in its slot, which goes back to the kernel when this is dropped.
pub struct Received<'a> {
    status: &'a AtomicU32,
    header: libc::tpacket2_hdr,
    before: [u8; HEADER],
    frame: &'a [u8],
}

impl Ring {
    /// For `slots` frames or a few more, of up to `mtu` with Ethernet's header and a tag.
    pub(crate) fn new(socket: &PacketSocket, mtu: u32, slots: u32) -> io::Result<Self> {
        let slot_size = mtu.saturating_add(OVERHEAD).next_power_of_two().min(BLOCK);
        let blocks = (slots.saturating_mul(slot_size)).div_ceil(BLOCK).max(1);
        let slots = blocks * (BLOCK / slot_size);
        let request = libc::tpacket_req {
            tp_block_size: BLOCK,
            tp_block_nr: blocks,
            tp_frame_size: slot_size,
            tp_frame_nr: slots,
        };
        socket.set(libc::PACKET_RX_RING, &request)?;
        let memory = map(socket, blocks as usize * BLOCK as usize)?;
        Ok(Self { memory, slot_size, slots, next: 0 })
    }

    /// The next frame, if one has arrived.
    pub fn receive(&mut self) -> Option<Received<'_>> {
        let offset = self.next as usize * self.slot_size as usize;
        // SAFETY: `next` is below `slots`, so the slot is inside the mapping, which lives as long as the ring. Slots are
        // aligned to their size, a power of two above 96.
        #[expect(unsafe_code, reason = "the ring is memory that the kernel writes")]
        let slot = unsafe { self.memory.add(offset) };
        // SAFETY: a slot begins with its status, which both sides access as one word.
        #[expect(unsafe_code, reason = "the ring is memory that the kernel writes")]
        let status = unsafe { AtomicU32::from_ptr(slot.cast().as_ptr()) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the status says that the kernel has written the header and does not touch the slot now.
        #[expect(unsafe_code, reason = "the ring is memory that the kernel writes")]
        let header: libc::tpacket2_hdr = unsafe { ptr::read(slot.cast().as_ptr()) };
        // No more than the slot holds, whatever the header says.
        let start = u32::from(header.tp_mac).min(self.slot_size);
        let length = header.tp_snaplen.min(self.slot_size - start);
        // SAFETY: the range is inside the slot, which is the program's until the status is given back; that takes
        // `Received`, which borrows the frame, out of existence.
        #[expect(unsafe_code, reason = "the ring is memory that the kernel writes")]
        let frame = unsafe { slice::from_raw_parts(slot.add(start as usize).as_ptr(), length as usize) };
        let before = header_before(slot, start, self.slot_size);
        self.next = if self.next + 1 == self.slots { 0 } else { self.next + 1 };
        Some(Received { status, header, before, frame })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let length = self.slots as usize * self.slot_size as usize;
        // SAFETY: the mapping is of this address and length, and nothing borrows from it any more.
        #[expect(unsafe_code, reason = "what was mapped has to be unmapped")]
        unsafe {
            libc::munmap(self.memory.as_ptr().cast(), length)
        };
    }
}

impl Received<'_> {
    /// What was left to the network card; of no meaning without [`crate::Offloads::Kept`].
    pub const fn header(&self) -> [u8; HEADER] {
        self.before
    }

    /// Whether all of it waits for [`PacketSocket::receive_whole`], since its slot is too small.
    pub const fn is_elsewhere(&self) -> bool {
        self.header.tp_status & libc::TP_STATUS_COPY != 0
    }

    /// How long it was, with the tag that the kernel took out.
    pub fn length(&self) -> u32 {
        self.header.tp_len.saturating_add(if self.tag().is_some() { 4 } else { 0 })
    }

    /// Whether the slot was too small for it.
    pub fn is_cut(&self) -> bool {
        self.header.tp_len as usize > self.frame.len()
    }

    /// The real time at which it arrived, in seconds and nanoseconds.
    pub fn stamp(&self) -> (u32, u32) {
        (self.header.tp_sec, self.header.tp_nsec)
    }

    /// Appends it as it was on the wire.
    pub fn copy_to(&self, buffer: &mut Vec<u8>) {
        match self.tag().zip(self.frame.split_at_checked(12)) {
            None => buffer.extend_from_slice(self.frame),
            Some((tag, (addresses, rest))) => {
                buffer.extend_from_slice(addresses);
                buffer.extend_from_slice(&tag);
                buffer.extend_from_slice(rest);
            }
        }
    }

    /// The outermost VLAN tag, which the kernel keeps beside the frame.
    pub fn tag(&self) -> Option<[u8; 4]> {
        let flags = libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_VLAN_TPID_VALID;
        let valid = self.header.tp_status & flags == flags;
        let [a, b] = self.header.tp_vlan_tpid.to_be_bytes();
        let [c, d] = self.header.tp_vlan_tci.to_be_bytes();
        valid.then_some([a, b, c, d])
    }
}

impl Drop for Received<'_> {
    fn drop(&mut self) {
        self.status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

// The kernel puts it right before the frame.
fn header_before(slot: NonNull<u8>, start: u32, slot_size: u32) -> [u8; HEADER] {
    let mut before = [0; HEADER];
    let place = (start as usize).checked_sub(HEADER).filter(|_| start <= slot_size);
    if let Some(place) = place {
        // SAFETY: the range is inside the slot, which is the program's now.
        #[expect(unsafe_code, reason = "the ring is memory that the kernel writes")]
        let bytes = unsafe { slice::from_raw_parts(slot.add(place).as_ptr(), HEADER) };
        before.copy_from_slice(bytes);
    }
    before
}

fn map(socket: &PacketSocket, length: usize) -> io::Result<NonNull<u8>> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new mapping at an address that the kernel chooses touches no memory that is in use.
    #[expect(unsafe_code, reason = "the ring is shared by mapping it")]
    let memory = unsafe { libc::mmap(ptr::null_mut(), length, access, flags, socket.as_fd().as_raw_fd(), 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(memory.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

// The header has to fit before the frame in every slot.
const _: () = assert!(
    size_of::<libc::tpacket2_hdr>() + size_of::<libc::sockaddr_ll>() + 16 + HEADER + 14 <= OVERHEAD as usize
);
