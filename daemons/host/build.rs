//! The build script, which compiles the BPF programs.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_BPF").is_some() {
        compile();
    }
}

fn compile() {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let object = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("coupled.bpf.o");
    // With debug information, since the loader reads the programs' types from it; without the folder of this machine.
    let debug = ["-g", "-fdebug-compilation-dir=."];
    let arguments = ["-target", "bpf", "-mcpu=v3", "-O2", "-Wall", "-Werror", "-c", "bpf/coupled.bpf.c"];
    let status = Command::new(&clang).args(debug).args(arguments).arg("-o").arg(&object).status();
    let made =
        status.as_ref().is_ok_and(std::process::ExitStatus::success) && fs::exists(&object).unwrap_or(false);
    assert!(
        made,
        "{clang} did not compile bpf/coupled.bpf.c ({status:?}). Install clang (on Debian: apt install clang \
         libelf-dev zlib1g-dev), or build without coupled congestion control: --no-default-features"
    );
}
