//! A message that answers several questions, a line each (ruling 15).

use super::Interpretation;
use super::answer::{self, Problem, Rules, Values, choices_only};
use super::choice::Choices;
use super::credential::looks_like_credential;
use super::line::{Certainty, Keyed, Keys, lines, numbered};
use crate::catalogue::fill;
use crate::model::{Answer, CredentialPolicy};
use crate::text::{Lines, clean, is_blank};

/// More lines than this are not looked at one by one: it is a text, and no list of answers.
const MOST_LINES: usize = 64;

/// What a line gives to a question.
#[derive(Clone, Copy, Debug)]
struct Given<'t> {
    question: usize,
    /// Without what named the question. Blank where only that was there.
    value: &'t str,
    /// All of the line.
    line: &'t str,
}

/// Why the lines of a message do not go with the questions.
#[derive(Clone, Copy, Debug)]
enum Mismatch {
    TooManyLines(usize),
    AnsweredTwice(usize),
}

/// Whether every question gets a line that is made of its choices and nothing else.
pub(super) fn chooses_for_all(questions: &[Choices<'_>], text: &str) -> bool {
    let lines: Vec<&str> = lines(text).take(questions.len() + 1).collect();
    lines.len() == questions.len()
        && questions.iter().zip(lines).all(|(choices, line)| choices_only(choices, line).is_some())
}

/// Reads the message, and completes `draft` with it.
pub(super) fn read(
    questions: &[Choices<'_>],
    text: &str,
    draft: Option<&[Answer]>,
    rules: &Rules<'_>,
) -> Interpretation {
    let mut answers = drafted(questions, draft);
    let had_draft = answers.iter().any(Option::is_some);
    let given = match assign(questions, text, &answers) {
        Ok(given) => given,
        Err(mismatch) => {
            return Interpretation::Correction(mismatch_words(mismatch, questions, text, &answers, rules));
        }
    };

    let mut problems = Vec::new();
    let mut is_suspect = false;
    for Given { question, value, line } in given {
        let (Some(choices), Some(answer)) = (questions.get(question), answers.get_mut(question)) else {
            continue;
        };
        if is_blank(value) {
            continue;
        }
        match answer_in(choices, value, line, rules) {
            Ok(values) => {
                is_suspect |= values.is_suspect;
                *answer = Some(values.values);
            }
            Err(problem) => {
                // An older answer is no longer what the person wants.
                *answer = None;
                problems.push((question, problem));
            }
        }
    }
    if problems.iter().any(|(_, problem)| matches!(problem, Problem::Credential { in_lines: true })) {
        // What stands in the other lines is most likely the rest of the key.
        return Interpretation::Correction(rules.language.corrections.credential.to_owned());
    }

    let warning = is_suspect.then(|| rules.language.corrections.credential_warning.to_owned());
    let missing: Vec<usize> =
        answers.iter().enumerate().filter(|(_, answer)| answer.is_none()).map(|(at, _)| at).collect();
    let draft: Vec<Answer> = questions
        .iter()
        .zip(answers)
        .filter_map(|(choices, values)| {
            Some(Answer { question_id: choices.question.id.clone(), values: values? })
        })
        .collect();
    if missing.is_empty() {
        return Interpretation::Answers { answers: draft, warning };
    }
    let correction = incomplete_words(questions, &problems, &missing, warning, rules);
    if draft.is_empty() && !had_draft {
        return Interpretation::Correction(correction);
    }
    let missing = missing
        .iter()
        .filter_map(|at| questions.get(*at))
        .map(|choices| choices.question.id.clone())
        .collect();
    Interpretation::Incomplete { draft, missing, correction }
}

/// What the draft holds for each question.
fn drafted(questions: &[Choices<'_>], draft: Option<&[Answer]>) -> Vec<Option<Vec<String>>> {
    let of = |choices: &Choices<'_>| {
        let answer =
            draft.unwrap_or_default().iter().find(|answer| answer.question_id == choices.question.id)?;
        (!answer.values.is_empty()).then(|| answer.values.clone())
    };
    questions.iter().map(of).collect()
}

/// The answer in a line. A line that is made of choices is one even if it also begins like a key.
fn answer_in(choices: &Choices<'_>, value: &str, line: &str, rules: &Rules<'_>) -> Result<Values, Problem> {
    let value = if choices_only(choices, line).is_some() { line } else { value };
    answer::read(choices, value, line, rules)
}

/// Gives every line to a question: in the first form that fits all of them.
fn assign<'t>(
    questions: &[Choices<'_>],
    text: &'t str,
    answers: &[Option<Vec<String>>],
) -> Result<Vec<Given<'t>>, Mismatch> {
    let lines: Vec<&str> = lines(text).collect();
    let places = places(lines.len(), answers);
    if lines.len() > MOST_LINES {
        return Err(Mismatch::TooManyLines(lines.len()));
    }
    let keys = Keys::of(questions);
    if let Some(places) = &places {
        let plain = || places.iter().zip(&lines).map(|(question, line)| (*question, *line));
        // What a choice is called is always its own, also where it begins like a key or a number.
        if plain().all(|(question, line)| choices_of(questions, question, line)) {
            return Ok(plain().map(|(question, line)| Given { question, value: line, line }).collect());
        }
    }
    if let Some(given) = keyed_lines(questions, &keys, &lines, answers) {
        return given;
    }
    if let Some(given) = numbered_lines(questions, &lines) {
        return given;
    }
    let places = places.ok_or(Mismatch::TooManyLines(lines.len()))?;
    let plain = |(question, line): (usize, &'t str)| Given {
        question,
        value: plain_value(questions, &keys, question, line),
        line,
    };
    Ok(places.into_iter().zip(lines).map(plain).collect())
}

fn choices_of(questions: &[Choices<'_>], question: usize, text: &str) -> bool {
    questions.get(question).is_some_and(|choices| choices_only(choices, text).is_some())
}

/// The questions that plain lines answer: all of them or the first ones; with a draft all of them or those that are
/// still without an answer.
fn places(lines: usize, answers: &[Option<Vec<String>>]) -> Option<Vec<usize>> {
    let missing: Vec<usize> =
        answers.iter().enumerate().filter(|(_, answer)| answer.is_none()).map(|(at, _)| at).collect();
    let all = missing.is_empty() || lines == answers.len();
    let mut places: Vec<usize> = if all { (0..answers.len()).collect() } else { missing };
    if lines > places.len() {
        return None;
    }
    places.truncate(lines);
    Some(places)
}

/// `key: value` in every line.
fn keyed_lines<'t>(
    questions: &[Choices<'_>],
    keys: &Keys,
    lines: &[&'t str],
    answers: &[Option<Vec<String>>],
) -> Option<Result<Vec<Given<'t>>, Mismatch>> {
    let keyed: Vec<(Keyed<'t>, &'t str)> =
        lines.iter().map(|line| Some((keys.keyed(line)?, *line))).collect::<Option<_>>()?;
    // `1:30` and `2-3 weeks` are answers of their own, unless the message has numbers that are keys for sure.
    let in_doubt = |keyed: &Keyed<'_>| keyed.certainty == Certainty::Number;
    let shows_numbers = |keyed: &Keyed<'_>| {
        keyed.is_number
            && (!in_doubt(keyed) || keyed.questions.iter().any(|at| choices_of(questions, *at, keyed.value)))
    };
    if keyed.iter().any(|(keyed, _)| in_doubt(keyed)) && !keyed.iter().any(|(keyed, _)| shows_numbers(keyed))
    {
        return None;
    }

    let mut given: Vec<Option<Given<'t>>> = vec![None; lines.len()];
    let mut taken = vec![false; questions.len()];
    // Keys of one question first: where a header is shared, the others get what is left.
    for shared in [false, true] {
        for ((keyed, line), given) in keyed.iter().zip(&mut given) {
            if (keyed.questions.len() > 1) != shared {
                continue;
            }
            let free = |question: &&usize| !taken.get(**question).copied().unwrap_or(true);
            let is_missing = |question: &&usize| answers.get(**question).is_some_and(Option::is_none);
            let mut candidates = keyed.questions.iter().filter(free);
            let question = candidates.clone().find(is_missing).or_else(|| candidates.next());
            if is_blank(keyed.value) {
                continue;
            }
            let Some(question) = question.copied() else {
                let twice = keyed.questions.first().copied().unwrap_or_default();
                return Some(Err(Mismatch::AnsweredTwice(twice)));
            };
            if let Some(taken) = taken.get_mut(question) {
                *taken = true;
            }
            *given = Some(Given { question, value: keyed.value, line });
        }
    }
    Some(Ok(given.into_iter().flatten().collect()))
}

/// `1. value` in every line.
fn numbered_lines<'t>(
    questions: &[Choices<'_>],
    lines: &[&'t str],
) -> Option<Result<Vec<Given<'t>>, Mismatch>> {
    let mut given: Vec<Given<'t>> = Vec::new();
    for line in lines {
        let (question, value) = numbered(line).filter(|(question, _)| *question < questions.len())?;
        given.push(Given { question, value, line });
    }
    let twice = given.iter().enumerate().find_map(|(at, one)| {
        given.iter().take(at).any(|other| other.question == one.question).then_some(one.question)
    });
    Some(twice.map_or(Ok(given), |twice| Err(Mismatch::AnsweredTwice(twice))))
}

/// A plain line without the key of the very question it answers.
fn plain_value<'t>(questions: &[Choices<'_>], keys: &Keys, question: usize, line: &'t str) -> &'t str {
    if let Some(keyed) = keys.keyed(line)
        && keyed.questions.contains(&question)
        && (keyed.certainty == Certainty::Sure || choices_of(questions, question, keyed.value))
    {
        return keyed.value;
    }
    match numbered(line) {
        Some((number, value)) if number == question && choices_of(questions, question, value) => value,
        _ => line,
    }
}

/// What to tell the person where the lines do not go with the questions.
fn mismatch_words(
    mismatch: Mismatch,
    questions: &[Choices<'_>],
    text: &str,
    answers: &[Option<Vec<String>>],
    rules: &Rules<'_>,
) -> String {
    let words = &rules.language.corrections;
    // A key over many lines ends here too, and the person should learn that it does not belong here at all.
    if rules.policy.credentials == CredentialPolicy::Refuse && looks_like_credential(text) {
        return words.credential.to_owned();
    }
    let mut lines = vec![match mismatch {
        Mismatch::TooManyLines(lines) => fill(
            words.too_many_lines,
            &[("lines", &lines.to_string()), ("total", &questions.len().to_string())],
        ),
        Mismatch::AnsweredTwice(question) => fill(
            words.answered_twice,
            &[("question", &questions.get(question).map(title).unwrap_or_default())],
        ),
    }];
    if answers.iter().any(Option::is_some) {
        let missing =
            answers.iter().zip(questions).filter(|(answer, _)| answer.is_none()).map(|(_, choices)| choices);
        lines.extend(missing_words(missing, rules));
    }
    lines.join("\n")
}

/// What to tell the person about the answers that cannot be taken, and those that did not come.
fn incomplete_words(
    questions: &[Choices<'_>],
    problems: &[(usize, Problem)],
    missing: &[usize],
    warning: Option<String>,
    rules: &Rules<'_>,
) -> String {
    let about = |(question, problem): &(usize, Problem)| {
        let choices = questions.get(*question)?;
        let correction = problem.correction(choices, rules.language);
        let question = title(choices);
        Some(fill(rules.language.corrections.about, &[("question", &question), ("correction", &correction)]))
    };
    let other = missing.iter().filter(|at| problems.iter().all(|(question, _)| question != *at));
    let other = other.filter_map(|at| questions.get(*at));
    let mut lines: Vec<String> = problems.iter().filter_map(about).collect();
    lines.extend(missing_words(other, rules));
    lines.extend(warning);
    lines.join("\n")
}

fn missing_words<'c, 'q: 'c>(
    missing: impl Iterator<Item = &'c Choices<'q>>,
    rules: &Rules<'_>,
) -> Option<String> {
    let names: Vec<String> = missing.map(name).collect();
    (!names.is_empty()).then(|| fill(rules.language.corrections.missing, &[("missing", &names.join(", "))]))
}

/// What a question is called: its header, which people see, else its id.
fn title(choices: &Choices<'_>) -> String {
    let header = clean(&choices.question.header, Lines::One);
    if is_blank(&header) { choices.question.id.clone() } else { header }
}

/// The title, with the id where it is another word: both work as a key.
fn name(choices: &Choices<'_>) -> String {
    let title = title(choices);
    let id = &choices.question.id;
    if title == *id { title } else { format!("{title} ({id})") }
}
