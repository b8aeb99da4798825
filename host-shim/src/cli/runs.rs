//! The runs of this command line. Each process is one run; a run is alive as long as its process is, so that a prompt
//! that a killed process left behind makes way for the next one of its session.

use crate::contract::Origin;
use crate::questions::Liveness;

const PREFIX: &str = "cli:";

/// The name of this process's run: its number, and when it started, since numbers are used again.
pub(super) fn name_of_this_run() -> String {
    let pid = std::process::id();
    match started(pid) {
        Some(started) => format!("{PREFIX}{pid}:{started}"),
        None => format!("{PREFIX}{pid}"),
    }
}

/// Whether the process behind a run still exists.
pub(super) fn liveness(origin: &Origin) -> Liveness {
    let Some(name) = origin.run.as_deref().and_then(|run| run.strip_prefix(PREFIX)) else {
        return Liveness::Unknown;
    };
    let Some((pid, then)) = name.split_once(':') else { return Liveness::Unknown };
    let Ok(pid) = pid.parse() else { return Liveness::Unknown };
    // Where processes cannot be looked at, not even this one, nothing is known.
    if started(std::process::id()).is_none() {
        return Liveness::Unknown;
    }
    match started(pid) {
        Some(now) if now == then => Liveness::Alive,
        _ => Liveness::Dead,
    }
}

/// When a process started, in the system's own count; nothing when it has ended. Only where there is a `/proc`.
fn started(pid: u32) -> Option<String> {
    start_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn start_in(stat: &str) -> Option<String> {
    // The second field is the program's name in parentheses, which may hold anything; the state comes after it, and
    // the start time is the 22nd.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    // A process that has ended stays listed until its parent asks for its exit code, which may be never.
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn origin(run: &str) -> Origin {
        crate::questions::Run::new("main", run).origin().clone()
    }

    #[test]
    fn a_process_that_nobody_has_collected_is_not_alive() {
        let stat =
            |state: &str| format!("7 (a) b) {state} 1 7 7 0 -1 4194560 90 0 0 0 0 0 0 0 20 0 1 0 4711 0 0");
        assert_eq!(start_in(&stat("S")).as_deref(), Some("4711"));
        assert_eq!(start_in(&stat("Z")), None);
    }

    #[test]
    fn this_process_is_alive_and_a_reused_number_is_not() {
        let name = name_of_this_run();
        assert_eq!(liveness(&origin(&name)), Liveness::Alive);
        assert_eq!(liveness(&origin(&format!("{name}0"))), Liveness::Dead);
        assert_eq!(liveness(&origin("cli:4294967295:1")), Liveness::Dead);
        assert_eq!(liveness(&origin("cli:x")), Liveness::Unknown);
        assert_eq!(liveness(&origin("run-1")), Liveness::Unknown);
    }
}
