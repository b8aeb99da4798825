//! English.

use super::{Controls, Corrections, FeedbackWords, Form, Language, Status};

pub(super) static ENGLISH: Language = Language {
    tag: "en",
    also: &[],
    controls: Controls {
        other: "Other…",
        own_answer: "Your own answer",
        skip: "Skip",
        skip_command: "/skip",
        next: "Next",
        back: "Back",
        submit: "Submit",
        choose_one: "Choose one",
        choose_any: "Choose one or more",
        step: "Question {n} of {total}",
        seconds_left: "{seconds} s left",
    },
    form: Form {
        intro_one: "A question for you",
        intro_many: "{total} questions for you",
        link: "Link:",
        own_words: "Your own words are fine too.",
        hint_number: "Reply with a number, an option or your own words.",
        hint_number_closed: "Reply with a number or an option.",
        hint_letter: "Reply with a letter, an option or your own words.",
        hint_letter_closed: "Reply with a letter or an option.",
        hint_many: "You can choose several, separated by commas, as in {example}.",
        hint_free: "Reply in your own words.",
        hint_lines: "Answer every question in one message, a line each, as in “{example}”.",
        hint_skip: "To skip, reply {command}.",
        hint_tap: "Tap a button, or reply.",
    },
    status: Status {
        answered: "Answered",
        answered_with: "Answered: {answers}",
        skipped: "Skipped",
        expired: "Expired without an answer",
        cancelled: "Cancelled",
        undeliverable: "Could not be shown",
    },
    corrections: Corrections {
        type_own: "Please type your own answer.",
        only_choices: "Please choose one of these:",
        out_of_range: "Please choose from {first} to {last}. Nothing was taken yet.",
        missing: "Still needed: {missing}. The rest is kept.",
        too_many_lines: "That has {lines} lines for {total} questions. Please write one line for each question.",
        answered_twice: "That answers “{question}” twice. Please send one answer for it.",
        about: "{question}: {correction}",
        credential: "That looks like a password or key. It was not kept. Please never send one here; \
                     the agent has a secrets tool for it.",
        credential_warning: "That looks like a password or key. Please use the agent's secrets tool for those.",
        too_long: "That answer has {received} bytes; at most {limit} are possible.",
    },
    feedback: FeedbackWords {
        accepted: "Thank you.",
        already_answered: "This question was already answered.",
        expired: "This question has expired.",
        not_allowed: "This question is for somebody else.",
        try_again: "That did not work. Please try again.",
    },
};
