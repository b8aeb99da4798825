//! Our own words. For one more language copy `DUTCH`, translate it and name it in `Words::of`; the compiler asks for
//! whatever is missing. Nothing that others wrote is translated.

/// All of them in one language. Text in braces stands for something that is filled in.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) skip: &'static str,
    pub(crate) submit: &'static str,
    pub(crate) intro_one: &'static str,
    pub(crate) intro_many: &'static str,
    pub(crate) step: &'static str,
    pub(crate) link: &'static str,
    pub(crate) choose_one: &'static str,
    pub(crate) choose_any: &'static str,
    pub(crate) vote: &'static str,
    pub(crate) vote_for_several: &'static str,
    pub(crate) by_number: &'static str,
    pub(crate) by_option: &'static str,
    pub(crate) by_own_words: &'static str,
    pub(crate) own_words_too: &'static str,
    pub(crate) with_commas: &'static str,
    pub(crate) a_line_each: &'static str,
    pub(crate) to_skip: &'static str,
    pub(crate) answered: &'static str,
    pub(crate) skipped: &'static str,
    pub(crate) expired: &'static str,
    pub(crate) cancelled: &'static str,
    pub(crate) undeliverable: &'static str,
    pub(crate) already_answered: &'static str,
    pub(crate) too_late: &'static str,
    pub(crate) not_allowed: &'static str,
    pub(crate) nothing_chosen: &'static str,
    pub(crate) try_again: &'static str,
}

impl Words {
    /// The words for a BCP 47 tag, English where there are none.
    pub(crate) fn of(locale: Option<&str>) -> &'static Self {
        let language = locale.unwrap_or_default().split(['-', '_']).next().unwrap_or_default();
        match language.to_ascii_lowercase().as_str() {
            "nl" => &DUTCH,
            _ => &ENGLISH,
        }
    }
}

static ENGLISH: Words = Words {
    skip: "Skip",
    submit: "Submit",
    intro_one: "A question for you",
    intro_many: "{total} questions for you",
    step: "Question {n} of {total}",
    link: "Link:",
    choose_one: "Choose one:",
    choose_any: "Choose one or more:",
    vote: "Vote in the poll below, or answer here.",
    vote_for_several: "Vote in the poll below, with “Submit” at the end, or answer here.",
    by_number: "Reply with a number or an option.",
    by_option: "Reply with an option.",
    by_own_words: "Reply in your own words.",
    own_words_too: "Your own words are fine too.",
    with_commas: "Separate several choices with commas.",
    a_line_each: "Reply to every question in one message, a line each, in this order.",
    to_skip: "To skip, reply /skip.",
    answered: "Answered",
    skipped: "Skipped",
    expired: "Expired without an answer",
    cancelled: "Cancelled",
    undeliverable: "Could not be shown",
    already_answered: "This question was already answered.",
    too_late: "This question has expired.",
    not_allowed: "This question is for somebody else.",
    nothing_chosen: "Please choose at least one.",
    try_again: "That did not work. Please try again.",
};

static DUTCH: Words = Words {
    skip: "Overslaan",
    submit: "Verzenden",
    intro_one: "Een vraag voor je",
    intro_many: "{total} vragen voor je",
    step: "Vraag {n} van {total}",
    link: "Link:",
    choose_one: "Kies er één:",
    choose_any: "Kies er één of meer:",
    vote: "Stem in de peiling hieronder, of antwoord hier.",
    vote_for_several: "Stem in de peiling hieronder, met “Verzenden” als laatste, of antwoord hier.",
    by_number: "Antwoord met een nummer of een optie.",
    by_option: "Antwoord met een optie.",
    by_own_words: "Antwoord in je eigen woorden.",
    own_words_too: "Je eigen woorden mogen ook.",
    with_commas: "Scheid meerdere keuzes met komma's.",
    a_line_each: "Antwoord op alle vragen in één bericht, elk op een eigen regel, in deze volgorde.",
    to_skip: "Overslaan? Antwoord /skip.",
    answered: "Beantwoord",
    skipped: "Overgeslagen",
    expired: "Verlopen zonder antwoord",
    cancelled: "Geannuleerd",
    undeliverable: "Kon niet worden getoond",
    already_answered: "Deze vraag is al beantwoord.",
    too_late: "Deze vraag is verlopen.",
    not_allowed: "Deze vraag is voor iemand anders.",
    nothing_chosen: "Kies er minstens één.",
    try_again: "Dat lukte niet. Probeer het nog eens.",
};
