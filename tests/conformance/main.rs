//! What OpenClaw 2026.9.6 does with the same input, recorded, against what we do: the same, or a difference that is
//! declared in `tests/vectors/differences.json` and explained in `docs/compatibility.md`.

mod conditions;
mod derived;
mod difference;
mod gateway;
mod ours;
mod report;
mod text;
mod vectors;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use ask_user_host::gateway::Compatibility;
use ask_user_tests::program::root;
use difference::{Declared, Difference};
use gateway::Pace;
use vectors::{File, Vector};

/// The folder of other vectors to run.
const FOLDER: &str = "ASK_USER_VECTORS";

/// What a reader learns about the differences.
const PAGE: &str = include_str!("../../docs/compatibility.md");

/// Vectors, and what became of them.
struct Run {
    vectors: &'static [Vector],
    differences: Vec<Difference<'static>>,
    /// Where a frame of the gateway is not as OpenClaw publishes it.
    faults: BTreeSet<String>,
}

/// The vectors that every entry of the list has to prove itself by. They are run once.
fn own() -> &'static Run {
    static OWN: OnceLock<Run> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut vectors = vectors::of_folder(&vectors::recorded());
        vectors.extend(derived::vectors());
        run(vectors)
    })
}

/// Runs vectors, those of the gateway with each profile.
fn run(vectors: Vec<Vector>) -> Run {
    let vectors: &[Vector] = vectors.leak();
    let of_plugin = vectors.iter().filter_map(|vector| Some((vector, ours::document(&vector.input)?)));
    let mut differences: Vec<Difference<'static>> = of_plugin
        .flat_map(|(vector, ours)| difference::of_vector(vector, Compatibility::Better, &ours))
        .collect();
    let mut faults = BTreeSet::new();
    for profile in [Compatibility::Openclaw, Compatibility::Better] {
        for (vector, replay) in gateway::replays(vectors, profile, Pace::AtOnce) {
            differences.extend(difference::of_vector(vector, profile, &replay.document));
            faults.extend(replay.faults);
        }
    }
    Run { vectors, differences, faults }
}

#[test]
fn every_difference_is_declared() {
    let other;
    let run = match std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        // Where the person who types it stands, and not where cargo runs the tests of a package.
        Some(folder) => {
            other = run(vectors::of_folder(&root().join(folder)));
            &other
        }
        None => own(),
    };
    let declared = difference::declared();
    let is_covered = |difference: &&Difference<'_>| declared.iter().any(|entry| entry.covers(difference));
    println!("{}", report::of(run.vectors, &run.differences, is_covered));
    let uncovered: Vec<String> =
        run.differences.iter().filter(|one| !is_covered(one)).map(ToString::to_string).collect();
    assert!(
        uncovered.is_empty(),
        "{} differences are not declared:\n\n{}",
        uncovered.len(),
        uncovered.join("\n\n")
    );
}

#[test]
fn every_frame_of_the_gateway_is_as_openclaw_publishes_it() {
    let faults: Vec<&str> = own().faults.iter().map(String::as_str).collect();
    assert!(faults.is_empty(), "{} faults:\n\n{}", faults.len(), faults.join("\n"));
}

/// So that the list cannot keep what is no longer so, and no entry hides behind another: each is the only one that
/// covers some difference, and the run above fails without it.
#[test]
fn every_declared_difference_is_needed() {
    let declared = difference::declared();
    // An entry for both profiles has to be needed in each.
    let mut needed = vec![BTreeSet::new(); declared.len()];
    for difference in &own().differences {
        let covering: Vec<usize> = declared
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.covers(difference))
            .map(|(at, _)| at)
            .collect();
        if let [only] = covering[..] {
            needed[only].insert(difference::profile_name(difference.profile));
        }
    }
    let is_idle = |entry: &Declared, needed: &BTreeSet<&str>| {
        let mut profiles = entry.file.profiles().iter().filter(|profile| entry.is_of(**profile));
        profiles.any(|profile| !needed.contains(difference::profile_name(*profile)))
    };
    let idle = declared.iter().zip(&needed).filter(|(entry, needed)| is_idle(entry, needed));
    let idle: Vec<String> = idle.map(|(entry, _)| name(entry)).collect();
    assert!(idle.is_empty(), "no vector needs\n{}", idle.join("\n"));
}

#[test]
fn a_condition_is_false_for_most_vectors() {
    let vectors = vectors::of_folder(&vectors::recorded());
    for entry in difference::declared() {
        let all = vectors.iter().filter(|vector| vector.file() == entry.file).count();
        let holding = vectors.iter().filter(|vector| entry.applies_to(vector)).count();
        assert!(holding * 3 < all, "{} holds for {holding} of {all} vectors", name(&entry));
    }
}

#[test]
fn every_condition_is_of_a_declared_difference() {
    let declared = difference::declared();
    for file in File::ALL {
        for (condition, _) in conditions::of(file) {
            let is_used = declared.iter().any(|entry| entry.file == file && entry.condition == condition);
            assert!(is_used, "{}: nothing is declared under {condition}", file.name());
        }
    }
}

#[test]
fn the_page_on_compatibility_counts_the_vectors_and_the_ones_that_differ() {
    for row in report::rows(own().vectors, &own().differences) {
        assert!(PAGE.lines().any(|line| line == row), "the page lacks {row}");
    }
}

#[test]
fn the_page_on_compatibility_has_every_declared_difference_and_no_other() {
    let mut of_page = Vec::new();
    let (mut file, mut profile) = (None, "");
    for line in PAGE.lines() {
        if line.starts_with('#') {
            profile = if line.ends_with("by default") { "better" } else { "" };
            file = File::ALL.into_iter().find(|file| line.contains(&format!("`{}.jsonl`", file.name())));
        }
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        if let (Some(file), ["", ruling, place, condition, why, ""]) =
            (file, cells.iter().map(String::as_str).collect::<Vec<_>>().as_slice())
            && *ruling != "ruling"
            && !ruling.starts_with("--")
        {
            of_page.push([file.name(), profile, ruling, place, condition, why].map(str::to_owned));
        }
    }
    let of_list = difference::declared().into_iter().map(|entry| {
        let profile = entry.profile.map(difference::profile_name).unwrap_or_default();
        let why = entry.why.replace('`', "");
        [entry.file.name().into(), profile.into(), entry.ruling, entry.place, entry.condition, why]
    });
    assert_eq!(of_page, of_list.collect::<Vec<_>>());
}

fn name(entry: &Declared) -> String {
    format!("ruling {}, {}, {}, {}", entry.ruling, entry.file.name(), entry.place, entry.condition)
}

#[test]
fn names_of_conditions_are_unique_and_an_unknown_one_is_refused() {
    for file in File::ALL {
        let names: Vec<&str> = conditions::of(file).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
    let entry = |condition: &str| {
        serde_json::json!({
            "ruling": "7", "file": "tool-arguments", "place": "$.direct.ok", "condition": condition, "why": "Because.",
        })
    };
    assert!(Declared::of(&entry("a-text-with-nothing-to-see")).is_ok());
    assert!(Declared::of(&entry("the-words-that-skip")).is_err(), "a condition of the other file");
    assert!(Declared::of(&entry("tool.fields/question-zwsp")).is_err(), "the name of a vector");
}
