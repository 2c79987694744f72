//! The body of a multipart request.

#![no_main]

use braid_openflow::MultipartRequest;

braid_fuzz::round_trip!(MultipartRequest<'_>);
