//! Any lines as a conversation with a gateway, from the first frame on or after a good handshake. Whatever comes, it
//! ends when its input ends, and every line it answers with is a frame.

#![no_main]

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ask_user_host::gateway::{Settings, serve_lines};
use ask_user_host::sandbox::{Plugin, Sandbox};
use ask_user_host::{AskUser, CancellationToken};
use libfuzzer_sys::fuzz_target;
use tokio::io::AsyncReadExt;

const CONNECT: &[u8] = br#"{"type":"req","id":"c","method":"connect","params":{"minProtocol":4,"maxProtocol":4,"client":{"id":"gateway-client","version":"1","platform":"x","mode":"backend"},"scopes":["operator.admin"],"caps":["ask-user-extensions"]}}
"#;

/// The plugin. Compiling it takes a while without optimisation, so compiled code is taken from `ASK_USER_CACHE_DIR`.
fn plugin() -> Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    let load = || {
        let mut sandbox = Sandbox::builder();
        if let Some(folder) = std::env::var_os("ASK_USER_CACHE_DIR") {
            sandbox = sandbox.code_cache(folder);
        }
        let sandbox = sandbox.build().expect("the engine starts");
        sandbox.load_bundled().expect("the plugin loads")
    };
    PLUGIN.get_or_init(load).clone()
}

fuzz_target!(init: { plugin(); }, |input: &[u8]| {
    let Some((first, lines)) = input.split_first() else { return };
    let handshake = if first % 4 == 0 { &[][..] } else { CONNECT };
    let conversation = [handshake, lines].concat();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let written = Arc::new(Mutex::new(Vec::new()));
    runtime.block_on(async {
        let host = AskUser::builder().plugin(plugin()).start().expect("the host starts");
        let (mut reading, writing) = tokio::io::duplex(64 << 10);
        let collected = Arc::clone(&written);
        let collecting = tokio::spawn(async move {
            let mut bytes = Vec::new();
            let _ = reading.read_to_end(&mut bytes).await;
            *collected.lock().expect("nobody panics with it") = bytes;
        });
        let serving =
            serve_lines(host, Settings::default(), &conversation[..], writing, CancellationToken::new());
        tokio::time::timeout(Duration::from_secs(10), serving).await.expect("it ends with its input");
        collecting.await.expect("nobody panics");
    });
    let written = written.lock().expect("nobody panics with it");
    for line in written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        assert!(line.starts_with(br#"{"type":""#) && line.ends_with(b"}"), "{}", String::from_utf8_lossy(line));
    }
});
