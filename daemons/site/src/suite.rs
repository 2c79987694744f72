//! The ciphers that this machine computes fastest.

use braid_tunnel::Suite;

/// AES-GCM where the processor has instructions for both of its parts; ChaCha20-Poly1305 elsewhere.
pub(crate) fn quickest() -> Suite {
    if has_aes() { Suite::AesGcm } else { Suite::ChaChaPoly }
}

#[cfg(target_arch = "x86_64")]
fn has_aes() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes") && std::arch::is_aarch64_feature_detected!("pmull")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const fn has_aes() -> bool {
    false
}
