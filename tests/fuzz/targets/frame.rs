//! Any bytes as a frame: it is told what they are, and what is told fits together.

#![no_main]

use ask_user_host::gateway::protocol::frame::{Incoming, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &[u8]| {
    match read(frame) {
        Incoming::NotJson => {}
        Incoming::NotARequest { id, problem } => {
            // What a response names is JSON, and stays as it is.
            match read(format!(r#"{{"id":{id}}}"#).as_bytes()) {
                Incoming::NotARequest { id: again, .. } => {
                    assert!(id == again || id == "null", "{id}, {again}");
                }
                other => panic!("{id}: {other:?}"),
            }
            assert!(!problem.is_empty());
        }
        Incoming::Request(request) => {
            assert!(request.id.len() > 2 && request.id.starts_with('"'), "{}", request.id);
            assert!(!request.method.is_empty() && !request.params.is_empty());
        }
    }
});
