//! The component as a file: what it wants, what it offers, how large it is.

use std::path::Path;

use ask_user_host::sandbox::{World, inspect};
use ask_user_tests::program::root;
use ask_user_tests::world::plugin;
use wasmparser::{ComponentExternalKind, Parser, Payload};
use wit_component::WitPrinter;
use wit_parser::Resolve;

/// Largest component that is embedded. `docs/architecture.md` says why it is more than the 400 KiB that were planned.
const BUDGET: usize = 428 * 1024;

/// The embedded component, read back from where the build put it.
fn embedded() -> &'static [u8] {
    ask_user_host::sandbox::BUNDLED_PLUGIN
}

/// Imports and exports of the outermost component, straight from the binary.
fn sections(component: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut imports, mut exports, mut depth) = (Vec::new(), Vec::new(), 0);
    for payload in Parser::new(0).parse_all(component) {
        match payload.unwrap() {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                imports.extend(section.into_iter().map(|import| import.unwrap().name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let export = export.unwrap();
                    assert_eq!(export.kind, ComponentExternalKind::Instance);
                    exports.push(export.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    exports.sort();
    (imports, exports)
}

const EXPORTS: [&str; 5] = [
    "ask-user:plugin/channel@0.1.0",
    "ask-user:plugin/question@0.1.0",
    "ask-user:plugin/reply@0.1.0",
    "ask-user:plugin/tool@0.1.0",
    "ask-user:plugin/types@0.1.0",
];

#[test]
fn the_component_imports_nothing_and_exports_its_world() {
    let component = embedded();
    assert_eq!(&component[..8], b"\0asm\x0d\0\x01\0");
    let (imports, exports) = sections(component);
    assert_eq!(imports, Vec::<String>::new());
    assert_eq!(exports, EXPORTS);
}

#[test]
fn the_component_is_within_its_size_budget() {
    let size = embedded().len();
    assert!(size <= BUDGET, "{size} bytes; the budget is {BUDGET}");
}

#[test]
fn the_contract_is_readable_before_anything_runs() {
    let inspection = inspect(embedded()).unwrap();
    assert_eq!(inspection.contract.as_deref(), Some("ask-user:plugin@0.1.0"));
    assert_eq!(inspection.size, embedded().len());
    assert_eq!(plugin().inspection(), &inspection, "what the build noted is what the file says");
}

#[test]
fn the_contract_files_are_complete() {
    let wit = root().join("wit");
    for file in
        ["types.wit", "tool.wit", "question.wit", "reply.wit", "channel.wit", "worlds.wit", "VERSIONING.md"]
    {
        assert!(wit.join(file).exists(), "{file}");
    }
    every_item_is_documented(&wit);
}

/// Every declaration of the contract has a comment above it.
fn every_item_is_documented(wit: &Path) {
    for entry in std::fs::read_dir(wit).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "wit") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut previous = "";
        for (number, line) in text.lines().enumerate() {
            let trimmed = line.trim();
            let declares = !trimmed.is_empty()
                && !trimmed.starts_with("///")
                && !trimmed.starts_with('}')
                && !["package ", "use ", "export ", "import "].iter().any(|word| trimmed.starts_with(word));
            if declares {
                assert!(previous.starts_with("///"), "{}:{}: {trimmed}", path.display(), number + 1);
            }
            previous = trimmed;
        }
    }
}

/// Where the gate built it with other tools, the component is the same to a host.
#[test]
fn a_component_built_another_way_has_the_same_imports_and_exports() {
    for built in
        std::env::var("ASK_USER_OTHER_BUILDS").unwrap_or_default().split(':').filter(|path| !path.is_empty())
    {
        let component = std::fs::read(built).unwrap_or_else(|error| panic!("{built}: {error}"));
        assert_eq!(sections(&component), sections(embedded()), "{built}");
        let inspection = inspect(&component).unwrap();
        assert_eq!(inspection.contract.as_deref(), Some("ask-user:plugin@0.1.0"), "{built}");
        inspection.refusal("other", World::Whole).unwrap();
    }
}

/// What other people's components are built for, without its comments.
fn published() -> String {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(root().join("wit")).unwrap();
    let mut printer = WitPrinter::default();
    printer.emit_docs(false);
    printer.print(&resolve, package, &[]).unwrap();
    let whole = printer.output.to_string();
    let mut kept = String::new();
    let mut inside = false;
    for line in whole.lines() {
        inside |= ["package ", "interface types {", "interface channel {", "world channel-plugin {"]
            .iter()
            .any(|start| line.starts_with(start));
        if inside {
            kept.push_str(line);
            kept.push('\n');
        }
        inside &= line != "}" && !line.starts_with("package ");
    }
    kept
}

#[test]
fn what_is_published_of_the_contract_never_changes() {
    let file = root().join("tests/vectors/channel-plugin-0.1.0.wit");
    let then = std::fs::read_to_string(&file).unwrap_or_default();
    let now = published();
    assert!(now == then, "wit/VERSIONING.md says what to do instead. It was:\n{then}\nand is now:\n{now}");
}
