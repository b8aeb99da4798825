//! Where our document differs from OpenClaw's, and which of the declared differences cover that.

use std::fmt;

use ask_user_host::gateway::Compatibility;
use serde_json::Value;

use crate::conditions::{self, Condition};
use crate::vectors::{File, Input, Vector};

/// One step of a JSON path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Member(String),
    Index(usize),
}

/// A place in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) Vec<Step>);

impl Place {
    /// The place of a member of what stands here.
    pub(crate) fn member(&self, name: &str) -> Self {
        self.and(&Self(vec![Step::Member(name.to_owned())]))
    }

    /// The place of an item of what stands here.
    pub(crate) fn item(&self, index: usize) -> Self {
        self.and(&Self(vec![Step::Index(index)]))
    }

    /// A place below this one.
    pub(crate) fn and(&self, below: &Self) -> Self {
        Self([self.0.as_slice(), below.0.as_slice()].concat())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|step| match step {
            Step::Member(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}

/// Places, as a JSON path: `.name`, `.*`, `[*]`, and `..*` at the end for everything below.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    steps: Vec<Pattern>,
    and_below: bool,
}

#[derive(Clone, Debug)]
enum Pattern {
    Member(String),
    AnyMember,
    AnyItem,
}

impl Places {
    /// Reads a path; nothing where it is not one.
    fn parse(path: &str) -> Option<Self> {
        let steps = path.strip_prefix('$')?;
        let (steps, and_below) = match steps.strip_suffix("..*") {
            Some(steps) => (steps, true),
            None => (steps, false),
        };
        let steps = steps.replace("[*]", ".[*]");
        let mut parts = steps.split('.');
        if parts.next() != Some("") {
            return None;
        }
        let step = |part: &str| match part {
            "" => None,
            "*" => Some(Pattern::AnyMember),
            "[*]" => Some(Pattern::AnyItem),
            name => Some(Pattern::Member(name.to_owned())),
        };
        Some(Self { steps: parts.map(step).collect::<Option<_>>()?, and_below })
    }

    fn contain(&self, place: &Place) -> bool {
        let long_enough =
            if self.and_below { place.0.len() > self.steps.len() } else { place.0.len() == self.steps.len() };
        long_enough
            && self.steps.iter().zip(&place.0).all(|(pattern, step)| match (pattern, step) {
                (Pattern::Member(name), Step::Member(found)) => name == found,
                (Pattern::AnyMember, Step::Member(_)) | (Pattern::AnyItem, Step::Index(_)) => true,
                _ => false,
            })
    }
}

/// One thing that differs.
#[derive(Clone, Debug)]
pub(crate) struct Difference<'v> {
    pub(crate) vector: &'v Vector,
    /// The profile that we ran with.
    pub(crate) profile: Compatibility,
    pub(crate) place: Place,
    /// What OpenClaw has there.
    pub(crate) theirs: Value,
    /// What we have there.
    pub(crate) ours: Value,
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.vector.file().name();
        writeln!(f, "{file}, {}: {}", profile_name(self.profile), self.vector.name)?;
        if !matches!(self.vector.input, Input::Scenario(_)) {
            writeln!(f, "    input    {:?}", self.vector.input)?;
        }
        writeln!(f, "    place    {}", self.place)?;
        writeln!(f, "    expected {}", self.theirs)?;
        write!(f, "    ours     {}", self.ours)
    }
}

/// What the list of differences calls a profile.
pub(crate) fn profile_name(profile: Compatibility) -> &'static str {
    match profile {
        Compatibility::Better => "better",
        Compatibility::Openclaw => "openclaw",
    }
}

/// All differences between our document, made with this profile, and the vector's.
pub(crate) fn of_vector<'v>(vector: &'v Vector, profile: Compatibility, ours: &Value) -> Vec<Difference<'v>> {
    let mut found = Vec::new();
    match vector.file() {
        File::Replies => reply(&vector.expected, ours, &mut found),
        File::ToolArguments => {
            for (way, expected) in vector.expected.as_object().into_iter().flatten() {
                arguments(&Place::default().member(way), expected, ours, &mut found);
            }
        }
        File::Gateway => values(&Place::default(), &vector.expected, ours, usize::MAX, &mut found),
    }
    let difference = |(place, theirs, ours)| Difference { vector, profile, place, theirs, ours };
    found.into_iter().map(difference).collect()
}

type Found = Vec<(Place, Value, Value)>;

fn reply(expected: &Value, ours: &Value, found: &mut Found) {
    let root = Place::default();
    if ours["skip"] == true {
        // Whatever they make of it, they have no words that skip.
        found.push((root.member("skip"), expected.clone(), ours.clone()));
    } else if expected["taken"] != ours["taken"] {
        found.push((root.member("taken"), expected.clone(), ours.clone()));
    } else {
        values(&root.member("answers"), &expected["answers"], &ours["answers"], 1, found);
    }
}

fn arguments(way: &Place, expected: &Value, ours: &Value, found: &mut Found) {
    if expected["ok"] != ours["ok"] {
        found.push((way.member("ok"), expected.clone(), ours.clone()));
    } else if expected["ok"] == true {
        for member in ["questions", "timeoutSeconds"] {
            values(&way.member(member), &expected[member], &ours[member], usize::MAX, found);
        }
    } else {
        // The layer in front of their tool checks types, counts and forms.
        let category = match expected["category"].as_str() {
            Some("coercion_layer") => "structure",
            category => category.unwrap_or_default(),
        };
        let ours = &ours["categories"];
        if !ours.as_array().is_some_and(|categories| categories.iter().any(|ours| ours == category)) {
            found.push((way.member("category"), expected["category"].clone(), ours.clone()));
        }
    }
}

/// Differences of two values, as deep as `depth` allows.
fn values(place: &Place, theirs: &Value, ours: &Value, depth: usize, found: &mut Found) {
    match (theirs, ours) {
        _ if theirs == ours => {}
        (Value::Object(one), Value::Object(other)) if depth > 0 => {
            let more = other.keys().filter(|name| !one.contains_key(*name));
            for name in one.keys().chain(more) {
                let of =
                    |object: &serde_json::Map<String, Value>| object.get(name).cloned().unwrap_or_default();
                values(&place.member(name), &of(one), &of(other), depth - 1, found);
            }
        }
        (Value::Array(one), Value::Array(other)) if depth > 0 && one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                values(&place.item(index), one, other, depth - 1, found);
            }
        }
        _ => found.push((place.clone(), theirs.clone(), ours.clone())),
    }
}

/// One declared difference: a ruling, the places it may show at, and when.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) ruling: String,
    pub(crate) file: File,
    /// The profile that it belongs to; both where none is named.
    pub(crate) profile: Option<Compatibility>,
    pub(crate) place: String,
    places: Places,
    pub(crate) condition: String,
    holds: Condition,
    pub(crate) why: String,
}

impl Declared {
    /// Reads one entry of the list.
    pub(crate) fn of(entry: &Value) -> Result<Self, String> {
        let text = |member: &str| match entry[member].as_str() {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(format!("{entry} lacks {member}")),
        };
        let (file, place, condition) = (text("file")?, text("place")?, text("condition")?);
        let file = File::named(&file).ok_or_else(|| format!("there is no file {file}"))?;
        let profile = match entry.get("profile").map(|profile| profile.as_str().unwrap_or_default()) {
            None => None,
            Some(name) => Some(
                [Compatibility::Better, Compatibility::Openclaw]
                    .into_iter()
                    .find(|profile| profile_name(*profile) == name)
                    .ok_or_else(|| format!("there is no profile {name:?}"))?,
            ),
        };
        Ok(Self {
            ruling: text("ruling")?,
            file,
            profile,
            places: Places::parse(&place).ok_or_else(|| format!("{place} is not a place"))?,
            place,
            holds: conditions::named(file, &condition)
                .ok_or_else(|| format!("{} has no condition {condition}", file.name()))?,
            condition,
            why: text("why")?,
        })
    }

    /// Whether it covers this difference.
    pub(crate) fn covers(&self, difference: &Difference<'_>) -> bool {
        self.file == difference.vector.file()
            && self.is_of(difference.profile)
            && self.places.contain(&difference.place)
            && self.holds.is_true_at(difference.vector, &difference.place)
    }

    /// Whether it may show where we run with this profile.
    pub(crate) fn is_of(&self, profile: Compatibility) -> bool {
        self.profile.is_none_or(|own| own == profile)
    }

    /// Whether it could cover a difference of this vector, if there was one.
    pub(crate) fn applies_to(&self, vector: &Vector) -> bool {
        let is_covered = |place: &Place| self.places.contain(place) && self.holds.is_true_at(vector, place);
        self.file == vector.file() && conditions::places(vector).iter().any(is_covered)
    }
}

/// The list of declared differences.
pub(crate) fn declared() -> Vec<Declared> {
    let list: Value =
        serde_json::from_str(include_str!("../vectors/differences.json")).expect("the list is JSON");
    let entries = list.as_array().expect("the list is an array");
    entries.iter().map(Declared::of).collect::<Result<_, _>>().unwrap_or_else(|problem| panic!("{problem}"))
}
