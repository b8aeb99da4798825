//! What can be known of a component from its file alone, before anything of it is compiled or run.

use sha2::{Digest, Sha256};
use wasmparser::{ComponentExternalKind, Parser, Payload};

use super::error::{LoadError, shorten};

/// The contract this host speaks.
pub const CONTRACT: &str = "ask-user:plugin@0.1.0";
/// The custom section in which a component names the contract it is built for.
const CONTRACT_SECTION: &str = "ask-user:contract";

/// What a component is loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// Everything: `ask-user-plugin`.
    Whole,
    /// Its channels: `channel-plugin`.
    Channels,
}

impl World {
    fn interfaces(self) -> &'static [&'static str] {
        match self {
            Self::Whole => &["types", "tool", "question", "reply", "channel"],
            Self::Channels => &["types", "channel"],
        }
    }
}

/// The component that came with this library, as the file that it is.
#[cfg(feature = "bundled-plugin")]
pub static BUNDLED_PLUGIN: &[u8] = include_bytes!(env!("ASK_USER_BUNDLED_PLUGIN"));

/// What is known of a component's file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Inspection {
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Bytes.
    pub size: usize,
    /// The contract it is built for: what its custom section says, else the version that its exports carry.
    pub contract: Option<String>,
    /// What it wants from the host. Must be empty.
    pub imports: Vec<String>,
    /// What it offers.
    pub exports: Vec<String>,
}

impl Inspection {
    /// Why this host would not load it for this, if it would not.
    pub fn refusal(&self, name: &str, world: World) -> Result<(), LoadError> {
        if !self.imports.is_empty() {
            return Err(LoadError::DeniedImports { name: name.into(), imports: self.imports.clone() });
        }
        match self.contract.as_deref() {
            Some(CONTRACT) => {}
            found => {
                let found = found.unwrap_or("none that is known").to_owned();
                return Err(LoadError::OtherContract { name: name.into(), found, expected: CONTRACT.into() });
            }
        }
        let missing: Vec<_> = world
            .interfaces()
            .iter()
            .map(|interface| interface_name(interface))
            .filter(|interface| !self.exports.contains(interface))
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(LoadError::MissingExports { name: name.into(), missing })
        }
    }
}

/// `ask-user:plugin/<interface>@0.1.0`.
pub(super) fn interface_name(interface: &str) -> String {
    let (package, version) = CONTRACT.split_once('@').unwrap_or((CONTRACT, ""));
    format!("{package}/{interface}@{version}")
}

/// Reads what is known of the component that came with this library. Its digest was taken when it was built.
#[cfg(feature = "bundled-plugin")]
pub(super) fn bundled() -> Result<Inspection, LoadError> {
    read(BUNDLED_PLUGIN, env!("ASK_USER_BUNDLED_PLUGIN_SHA256").into())
}

/// Reads what is known of a component from its bytes.
pub fn inspect(component: &[u8]) -> Result<Inspection, LoadError> {
    let sha256 = Sha256::digest(component).iter().map(|byte| format!("{byte:02x}")).collect();
    read(component, sha256)
}

fn read(component: &[u8], sha256: String) -> Result<Inspection, LoadError> {
    let broken = |cause: String| LoadError::NotAComponent { cause: shorten(&cause) };
    if !Parser::is_component(component) {
        return Err(broken("it does not begin like one".into()));
    }
    let mut inspection = Inspection {
        sha256,
        size: component.len(),
        contract: None,
        imports: Vec::new(),
        exports: Vec::new(),
    };
    // Sections of nested modules and components come between those of the outermost one, which is the one that counts;
    // the contract may be stated at any depth, since compilers can only write it into a module.
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(|error| broken(error.to_string()))? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    let import = import.map_err(|error| broken(error.to_string()))?;
                    inspection.imports.push(shorten(import.name.name));
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let export = export.map_err(|error| broken(error.to_string()))?;
                    if matches!(export.kind, ComponentExternalKind::Instance | ComponentExternalKind::Func) {
                        inspection.exports.push(shorten(export.name.name));
                    }
                }
            }
            Payload::CustomSection(section) if section.name() == CONTRACT_SECTION => {
                let contract = std::str::from_utf8(section.data())
                    .map_err(|_| broken(format!("its section {CONTRACT_SECTION} is not text")))?;
                inspection.contract = Some(shorten(contract));
            }
            _ => {}
        }
    }
    if inspection.contract.is_none() {
        inspection.contract = contract_of_exports(&inspection.exports);
    }
    Ok(inspection)
}

/// The contract that the names of the exports carry, for languages whose tools cannot write a section.
fn contract_of_exports(exports: &[String]) -> Option<String> {
    let (package, _) = CONTRACT.split_once('@')?;
    exports.iter().find_map(|export| {
        let (interface, version) = export.split_once('@')?;
        let ours = interface.strip_prefix(package)?.starts_with('/');
        ours.then(|| format!("{package}@{version}"))
    })
}
