//! Counts: how many vectors came out the same, and how many did not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use ask_user_host::gateway::Compatibility;

use crate::derived;
use crate::difference::{Difference, profile_name};
use crate::vectors::{File, Vector};

/// The line for all groups of a file.
const TOTAL: &str = "total";

/// What became of the vectors of one group.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    same: usize,
    declared: usize,
    undeclared: usize,
}

impl Counts {
    fn all(self) -> usize {
        self.same + self.declared + self.undeclared
    }
}

/// A table for each file and profile, with a line a group and one for all.
pub(crate) fn of(
    vectors: &[Vector],
    differences: &[Difference<'_>],
    is_covered: impl Fn(&&Difference<'_>) -> bool,
) -> String {
    let mut text = String::new();
    for (file, profile) in runs() {
        let groups = groups(file, profile, vectors, differences, &is_covered);
        if groups.is_empty() {
            continue;
        }
        let title = format!("{}, {}", file.name(), profile_name(profile));
        let _ = writeln!(text, "{title:32} {:>6} {:>9} {:>11}", "same", "declared", "undeclared");
        let (total, groups): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(group, _)| *group == TOTAL);
        for (group, Counts { same, declared, undeclared }) in groups.into_iter().chain(total) {
            let _ = writeln!(text, "{group:32} {same:6} {declared:9} {undeclared:11}");
        }
    }
    text
}

/// How many vectors were recorded and how many of them differ, as the page on compatibility has it.
pub(crate) fn rows(vectors: &[Vector], differences: &[Difference<'_>]) -> Vec<String> {
    let row = |(file, profile): (File, Compatibility)| {
        let groups = groups(file, profile, vectors, differences, |_| true);
        let recorded = groups.iter().filter(|(group, _)| !matches!(**group, TOTAL | derived::GROUP));
        let (all, differing) = recorded
            .fold((0, 0), |(all, differing), (_, counts)| (all + counts.all(), differing + counts.declared));
        let with = match (file, profile) {
            (File::Gateway, Compatibility::Better) => " by default",
            (File::Gateway, Compatibility::Openclaw) => " with the profile `openclaw`",
            _ => "",
        };
        format!("| `{}.jsonl`{with} | {all} | {differing} |", file.name())
    };
    runs().map(row).collect()
}

fn runs() -> impl Iterator<Item = (File, Compatibility)> {
    File::ALL.into_iter().flat_map(|file| file.profiles().iter().map(move |profile| (file, *profile)))
}

fn groups<'v>(
    file: File,
    profile: Compatibility,
    vectors: &'v [Vector],
    differences: &[Difference<'_>],
    is_covered: impl Fn(&&Difference<'_>) -> bool,
) -> BTreeMap<&'v str, Counts> {
    let here = || differences.iter().filter(|one| one.profile == profile && one.vector.file() == file);
    let differing: BTreeSet<&str> = here().map(|one| one.vector.name.as_str()).collect();
    let undeclared: BTreeSet<&str> =
        here().filter(|one| !is_covered(one)).map(|one| one.vector.name.as_str()).collect();
    let mut groups: BTreeMap<&str, Counts> = BTreeMap::new();
    for vector in vectors.iter().filter(|vector| vector.file() == file) {
        for group in [vector.group(), TOTAL] {
            let counts = groups.entry(group).or_default();
            let name = vector.name.as_str();
            if undeclared.contains(name) {
                counts.undeclared += 1;
            } else if differing.contains(name) {
                counts.declared += 1;
            } else {
                counts.same += 1;
            }
        }
    }
    groups
}
