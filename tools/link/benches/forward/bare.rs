//! The reference: a TPACKET_V3 ring on one side, sendmmsg on the other, and nothing between.
#![expect(
    unsafe_code,
    reason = "the ring is memory shared with the kernel; this is a measure, not a product"
)]

use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nix::libc;
use nix::poll::{PollFd, PollFlags, poll};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, sendmmsg};

use crate::network::packet_socket;

const BLOCK: usize = 1 << 18;
const BLOCKS: usize = 32;

/// Passes frames from a device to another until `stop`.
pub(crate) fn forward(from: &str, to: &str, stop: &AtomicBool) {
    let (input, output) = (packet_socket(from), packet_socket(to));
    set(&output, libc::PACKET_QDISC_BYPASS, &1_i32);
    let ring = ring(&input);
    for block in (0..BLOCKS).cycle() {
        // SAFETY: the block is inside the mapping, and begins with two words before its header.
        let (block, header) = unsafe {
            let block = ring.add(block * BLOCK);
            (block, &raw mut (*block.cast::<libc::tpacket_block_desc>()).hdr.bh1)
        };
        // SAFETY: the status is a word that both sides access as one.
        let status = unsafe { AtomicU32::from_ptr(&raw mut (*header).block_status) };
        while status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            if stop.load(Ordering::Relaxed) {
                // SAFETY: it was mapped with this length.
                unsafe { libc::munmap(ring.cast(), BLOCK * BLOCKS) };
                return;
            }
            let mut ready = [PollFd::new(std::os::fd::AsFd::as_fd(&input), PollFlags::POLLIN)];
            poll(&mut ready, 100_u16).expect("waiting");
        }
        // SAFETY: the status says that the block is the program's.
        let frames = unsafe { frames(block, &*header) };
        for frames in frames.chunks(64) {
            send(&output, frames);
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

unsafe fn frames<'a>(block: *mut u8, header: &libc::tpacket_hdr_v1) -> Vec<[IoSlice<'a>; 1]> {
    let mut frames = Vec::with_capacity(header.num_pkts as usize);
    let mut at = header.offset_to_first_pkt as usize;
    for _ in 0..header.num_pkts {
        // SAFETY: the kernel chains the headers of a block's frames, and says where each lies.
        unsafe {
            let header = block.add(at).cast::<libc::tpacket3_hdr>();
            let data = block.add(at + (*header).tp_mac as usize);
            frames.push([IoSlice::new(slice::from_raw_parts(data, (*header).tp_snaplen as usize))]);
            at += (*header).tp_next_offset as usize;
        }
    }
    frames
}

fn send(socket: &OwnedFd, frames: &[[IoSlice<'_>; 1]]) {
    let mut controls: Vec<_> = frames.iter().map(|_| SendAncillaryBuffer::new(&mut [])).collect();
    let messages = frames.iter().zip(&mut controls);
    let mut messages: Vec<_> = messages.map(|(slice, control)| MMsgHdr::new(slice, control)).collect();
    let _ = sendmmsg(socket, &mut messages, SendFlags::empty());
}

fn ring(socket: &OwnedFd) -> *mut u8 {
    set(socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V3 as libc::c_int));
    let request = libc::tpacket_req3 {
        tp_block_size: BLOCK as u32,
        tp_block_nr: BLOCKS as u32,
        tp_frame_size: 2_048,
        tp_frame_nr: (BLOCK / 2_048 * BLOCKS) as u32,
        tp_retire_blk_tov: 1,
        tp_sizeof_priv: 0,
        tp_feature_req_word: 0,
    };
    set(socket, libc::PACKET_RX_RING, &request);
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let memory = unsafe {
        libc::mmap(ptr::null_mut(), BLOCK * BLOCKS, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
    };
    assert_ne!(memory, libc::MAP_FAILED);
    memory.cast()
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointer and length are those of `value`, which the kernel only reads.
    let set = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, (&raw const *value).cast(), length)
    };
    assert_eq!(set, 0, "option {option}");
}
