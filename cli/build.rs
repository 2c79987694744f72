//! Folds functions whose code is the same, where the linker is LLD: Rust's own on this target. It makes the command smaller.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let of = |key: &str| std::env::var(key).unwrap_or_default();
    let is_lld = of("CARGO_CFG_TARGET_ARCH") == "x86_64" && of("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_lld && of("PROFILE") == "release" {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
