//! Components that mean no good, made from the contract itself: every export is there and traps, but for one function
//! whose body the test writes.

use ask_user_host::sandbox::{World, inspect};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Function, Resolve, WorldItem};

use super::program::root;

/// A component of the world `ask-user-plugin` in which `tool.definition` does what `body` says. It has the memory, a
/// global `$calls`, a table `$spare`, and whatever WebAssembly offers; it must leave an `i32` or trap.
pub fn hostile(body: &str) -> Vec<u8> {
    let component = component("ask-user-plugin", "definition", body);
    // Without a section of its own the contract is read from the exports.
    inspect(&component)
        .and_then(|inspection| inspection.refusal("hostile", World::Whole))
        .expect("it would load");
    component
}

/// A component that only brings channels; `channel.channels` does what `body` says.
pub fn channels_only(body: &str) -> Vec<u8> {
    component("channel-plugin", "channels", body)
}

fn component(world: &str, function_with_body: &str, body: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(root().join("wit")).expect("the contract is valid");
    let world = resolve.select_world(&[package], Some(world)).expect("the world is there");
    let mut module = String::from(
        r#"(module
            (memory (export "memory") 2)
            (table $spare 1 funcref)
            (global $calls (mut i32) (i32.const 0))
            (global $top (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (global.get $top)
                (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -16))))"#,
    );
    for (key, item) in &resolve.worlds[world].exports {
        let WorldItem::Interface { id, .. } = item else { continue };
        let interface = resolve.name_world_key(key);
        for function in resolve.interfaces[*id].functions.values() {
            let body = if function.name == function_with_body { body } else { "unreachable" };
            module.push_str(&export(&resolve, &interface, function, body));
        }
    }
    module.push(')');
    let mut module = wat::parse_str(&module).expect("the body is valid WebAssembly");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("the world fits");
    let component =
        ComponentEncoder::default().module(&module).and_then(|encoder| encoder.validate(true).encode());
    component.expect("the module is a component")
}

fn export(resolve: &Resolve, interface: &str, function: &Function, body: &str) -> String {
    let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
    let types = |types: &[WasmType]| types.iter().map(|kind| wasm_type(*kind)).collect::<Vec<_>>().join(" ");
    format!(
        "\n(func (export \"{interface}#{}\") (param {}) (result {}) {body})",
        function.name,
        types(&signature.params),
        types(&signature.results)
    )
}

fn wasm_type(kind: WasmType) -> &'static str {
    match kind {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
    }
}
