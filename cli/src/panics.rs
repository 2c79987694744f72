//! What a panic in a daemon does: it ends the process and names the task.

use std::panic::{PanicHookInfo, set_hook};
use std::process::abort;
use std::thread;

use crate::exit;

/// Lets a panic in any task or thread end the process, in every build: a restarted daemon is safer than half of one with
/// inconsistent state, and switches and kernels keep their rules meanwhile.
pub(crate) fn end_the_process() {
    set_hook(Box::new(|panic| {
        let thread = thread::current();
        exit::say(&report(panic, braid_controller::current_task().or(thread.name())));
        abort();
    }));
}

fn report(panic: &PanicHookInfo<'_>, task: Option<&str>) -> String {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let text = panic.payload_as_str().unwrap_or("a panic without text");
    format!(
        "the task {:?} has a defect and ends the process: {text} ({place}). Please report it; what the network was told \
         stays in force until a restart",
        task.unwrap_or("unknown")
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    /// Set where this program is to end by a panic.
    const ROLE: &str = "BRAID_TEST_PANIC";

    #[test]
    fn a_panic_in_a_thread_ends_the_process_with_an_error_that_names_it() {
        if std::env::var_os(ROLE).is_some() {
            end_the_process();
            let spawned = thread::Builder::new().name("http".to_owned()).spawn(|| panic!("no way on"));
            let _ = spawned.expect("a thread").join();
            return;
        }
        let mut program = Command::new(std::env::current_exe().expect("the path of this program"));
        let name = "panics::tests::a_panic_in_a_thread_ends_the_process_with_an_error_that_names_it";
        let ended =
            program.args(["--exact", name, "--nocapture"]).env(ROLE, "1").output().expect("a process");
        const SIGABRT: i32 = 6;
        assert_eq!(ended.status.signal(), Some(SIGABRT));
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains("the task \"http\" has a defect and ends the process: no way on"), "{said}");
        assert!(said.contains("panics.rs:"), "{said}");
    }
}
