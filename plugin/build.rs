//! Gives the component a stack of the size it needs. Every call has a memory of its own, and what lies in it is looked
//! through when the call is over: the usual stack of 1 MiB would be most of that.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        // JSON nests at most 128 deep; a test goes there.
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=196608");
    }
}
