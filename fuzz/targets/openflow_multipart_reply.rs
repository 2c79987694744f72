//! The body of a multipart reply.

#![no_main]

use braid_openflow::MultipartReply;

braid_fuzz::round_trip!(MultipartReply<'_>);
