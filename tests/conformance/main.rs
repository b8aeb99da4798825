//! What OpenClaw 2026.9.6 does with the same input, recorded, against what we do: the same, or a difference that is
//! declared in `tests/vectors/differences.json` and explained in `docs/compatibility.md`.

mod conditions;
mod derived;
mod difference;
mod ours;
mod text;
mod vectors;

use std::collections::BTreeSet;

use ask_user_tests::program::root;
use difference::{Declared, Difference};
use vectors::{File, Vector};

/// The folder of other vectors to run.
const FOLDER: &str = "ASK_USER_VECTORS";

/// What a reader learns about the differences.
const PAGE: &str = include_str!("../../docs/compatibility.md");

/// The vectors that every entry of the list has to prove itself by.
fn own_vectors() -> Vec<Vector> {
    let mut vectors = vectors::of_folder(&vectors::recorded());
    vectors.extend(derived::vectors());
    vectors
}

fn differences(vectors: &[Vector]) -> Vec<Difference<'_>> {
    vectors.iter().flat_map(|vector| difference::of_vector(vector, &ours::document(&vector.input))).collect()
}

#[test]
fn every_difference_is_declared() {
    let vectors = match std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        // Where the person who types it stands, and not where cargo runs the tests of a package.
        Some(folder) => vectors::of_folder(&root().join(folder)),
        None => own_vectors(),
    };
    let declared = difference::declared();
    let differences = differences(&vectors);
    let uncovered: Vec<String> = differences
        .iter()
        .filter(|difference| !declared.iter().any(|entry| entry.covers(difference)))
        .map(ToString::to_string)
        .collect();
    for file in File::ALL {
        println!("{}", row(file, &vectors, &differences));
    }
    assert!(
        uncovered.is_empty(),
        "{} differences are not declared:\n\n{}",
        uncovered.len(),
        uncovered.join("\n\n")
    );
}

/// How many vectors of a file there are, and how many of them differ, as the page on compatibility has it.
fn row(file: File, vectors: &[Vector], differences: &[Difference<'_>]) -> String {
    let all = vectors.iter().filter(|vector| vector.file() == file).count();
    let of_file = differences.iter().filter(|difference| difference.vector.file() == file);
    let differing: BTreeSet<&str> = of_file.map(|difference| difference.vector.name.as_str()).collect();
    format!("| `{}.jsonl` | {all} | {} |", file.name(), differing.len())
}

/// So that the list cannot keep what is no longer so, and no entry hides behind another: each is the only one that
/// covers some difference, and the run above fails without it.
#[test]
fn every_declared_difference_is_needed() {
    let vectors = own_vectors();
    let declared = difference::declared();
    let mut needed = vec![false; declared.len()];
    for difference in differences(&vectors) {
        let covering: Vec<usize> = declared
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.covers(&difference))
            .map(|(at, _)| at)
            .collect();
        if let [only] = covering[..] {
            needed[only] = true;
        }
    }
    let idle: Vec<String> =
        declared.iter().zip(needed).filter(|(_, needed)| !needed).map(|(entry, _)| name(entry)).collect();
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
    let vectors = vectors::of_folder(&vectors::recorded());
    let differences = differences(&vectors);
    for file in File::ALL {
        let row = row(file, &vectors, &differences);
        assert!(PAGE.lines().any(|line| line == row), "the page lacks {row}");
    }
}

#[test]
fn the_page_on_compatibility_has_every_declared_difference_and_no_other() {
    let mut of_page = Vec::new();
    let mut file = None;
    for line in PAGE.lines() {
        if line.starts_with('#') {
            file = File::ALL.into_iter().find(|file| line.contains(&format!("`{}.jsonl`", file.name())));
        }
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        if let (Some(file), ["", ruling, place, condition, why, ""]) =
            (file, cells.iter().map(String::as_str).collect::<Vec<_>>().as_slice())
            && *ruling != "ruling"
            && !ruling.starts_with("--")
        {
            of_page.push([file.name(), ruling, place, condition, why].map(str::to_owned));
        }
    }
    let of_list = difference::declared().into_iter().map(|entry| {
        [entry.file.name().to_owned(), entry.ruling, entry.place, entry.condition, entry.why.replace('`', "")]
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
