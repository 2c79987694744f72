//! Coupled congestion control as BPF programs, loaded into the kernel and registered by name.

use std::io;
use std::path::Path;

use braid_congestion::Algorithm;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapType, Object, ObjectBuilder, OpenObject, PrintLevel, set_print,
};

use super::{CongestionError, kernel_name};

/// The kernel's type information (BTF), with which BPF programs are relocated.
const KERNEL_BTF: &str = "/sys/kernel/btf/vmlinux";

/// The BPF object file, aligned since its headers are read in place.
#[repr(align(8))]
struct Aligned<T: ?Sized>(T);
static PROGRAMS: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/coupled.bpf.o")));

/// A congestion control that is registered while this value exists; the kernel removes it when the process ends.
#[derive(Debug)]
pub(super) struct Registration {
    _link: Link,
    _object: Object,
}

impl Registration {
    /// Registers `algorithm`. Plain TCP connections get `plain` instead, if it is given.
    pub(super) fn load(algorithm: Algorithm, plain: Option<&str>) -> Result<Self, CongestionError> {
        examine()?;
        set_print(Some((PrintLevel::Debug, |_, line| tracing::debug!("{}", line.trim_end()))));
        let refused = |error| refused(algorithm, error);
        let mut programs = ObjectBuilder::default().open_memory(&PROGRAMS.0).map_err(refused)?;
        if let Some(plain) = plain {
            set_fallback(&mut programs, plain);
        }
        leave_out_others(&mut programs, algorithm).map_err(refused)?;
        let mut object = programs.load().map_err(refused)?;
        let link = attach(&mut object, &kernel_name(algorithm)).map_err(refused)?;
        Ok(Self { _link: link, _object: object })
    }
}

/// Checks for missing features first, since the kernel's error does not name them.
fn examine() -> Result<(), CongestionError> {
    if !Path::new("/proc/sys/net/mptcp").exists() {
        return Err(CongestionError::lacks("MPTCP", "use a kernel with CONFIG_MPTCP"));
    }
    if !Path::new(KERNEL_BTF).exists() {
        let remedy = "use a kernel with CONFIG_DEBUG_INFO_BTF; in a namespace that `ip netns exec` entered, /sys is \
                      another: enter with `nsenter --net=`";
        return Err(CongestionError::lacks(KERNEL_BTF, remedy));
    }
    Ok(())
}

fn set_fallback(programs: &mut OpenObject, plain: &str) {
    let constants = programs.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata"));
    if let Some(mut constants) = constants
        && let Some(value) = constants.initial_value_mut()
    {
        // The name is a constant of 16 bytes, the last of which stays zero.
        value.iter_mut().zip(plain.bytes().take(15)).for_each(|(to, from)| *to = from);
    }
}

/// Loading takes a while, since the kernel verifies the programs.
fn leave_out_others(programs: &mut OpenObject, algorithm: Algorithm) -> libbpf_rs::Result<()> {
    let name = kernel_name(algorithm);
    for mut program in programs.progs_mut() {
        let wanted = program.name().to_string_lossy();
        let wanted = wanted.starts_with("coupled_") || wanted.starts_with(&format!("{algorithm}_"));
        program.set_autoload(wanted);
    }
    let mut others =
        programs.maps_mut().filter(|map| map.map_type() == MapType::StructOps && map.name() != &*name);
    others.try_for_each(|mut map| map.set_autocreate(false))
}

fn attach(object: &mut Object, name: &str) -> libbpf_rs::Result<Link> {
    let mut map = object.maps_mut().find(|map| map.name() == name);
    let missing = || libbpf_rs::Error::from(io::Error::other(format!("no program is called {name}")));
    map.as_mut().ok_or_else(missing)?.attach_struct_ops()
}

fn refused(algorithm: Algorithm, error: libbpf_rs::Error) -> CongestionError {
    match error.kind() {
        ErrorKind::PermissionDenied => CongestionError::lacks(
            "the right to load BPF programs",
            "run as root, or with CAP_BPF and CAP_NET_ADMIN",
        ),
        ErrorKind::NotFound | ErrorKind::Unsupported => {
            CongestionError::lacks("BPF struct_ops for TCP", "use Linux 6.4 or newer with CONFIG_BPF_JIT")
        }
        _ => CongestionError::Refused { what: kernel_name(algorithm), reason: io::Error::other(error) },
    }
}
