//! Dutch.

use super::{Controls, Corrections, FeedbackWords, Form, Language, Status};

pub(super) static DUTCH: Language = Language {
    tag: "nl",
    also: &[],
    controls: Controls {
        other: "Anders…",
        own_answer: "Je eigen antwoord",
        skip: "Overslaan",
        skip_command: "/overslaan",
        next: "Volgende",
        back: "Terug",
        submit: "Verzenden",
        choose_one: "Kies er één",
        choose_any: "Kies er één of meer",
        step: "Vraag {n} van {total}",
        seconds_left: "nog {seconds} s",
    },
    form: Form {
        intro_one: "Een vraag voor je",
        intro_many: "{total} vragen voor je",
        link: "Link:",
        own_words: "Je eigen woorden mogen ook.",
        hint_number: "Antwoord met een nummer, een optie of je eigen woorden.",
        hint_number_closed: "Antwoord met een nummer of een optie.",
        hint_letter: "Antwoord met een letter, een optie of je eigen woorden.",
        hint_letter_closed: "Antwoord met een letter of een optie.",
        hint_many: "Je kunt er meer kiezen, gescheiden door komma's, zoals {example}.",
        hint_free: "Antwoord in je eigen woorden.",
        hint_lines: "Beantwoord alle vragen in één bericht, elk op een eigen regel, zoals “{example}”.",
        hint_skip: "Overslaan? Antwoord {command}.",
        hint_tap: "Tik op een knop, of antwoord.",
    },
    status: Status {
        answered: "Beantwoord",
        answered_with: "Beantwoord: {answers}",
        skipped: "Overgeslagen",
        expired: "Verlopen zonder antwoord",
        cancelled: "Geannuleerd",
        undeliverable: "Kon niet worden getoond",
    },
    corrections: Corrections {
        type_own: "Typ je eigen antwoord.",
        only_choices: "Kies een van deze:",
        out_of_range: "Kies van {first} tot en met {last}. Er is nog niets verwerkt.",
        missing: "Nog nodig: {missing}. De rest blijft bewaard.",
        too_many_lines: "Dat zijn {lines} regels voor {total} vragen. Schrijf één regel per vraag.",
        answered_twice: "Dat beantwoordt “{question}” twee keer. Stuur er één antwoord voor.",
        about: "{question}: {correction}",
        credential: "Dat lijkt op een wachtwoord of sleutel. Het is niet bewaard. Stuur zoiets hier nooit; \
                     de agent heeft er een geheimenfunctie (secrets) voor.",
        credential_warning: "Dat lijkt op een wachtwoord of sleutel. Gebruik daarvoor de geheimenfunctie (secrets) van de agent.",
        too_long: "Dat antwoord heeft {received} bytes; er zijn er hoogstens {limit} mogelijk.",
    },
    feedback: FeedbackWords {
        accepted: "Dank je.",
        already_answered: "Deze vraag is al beantwoord.",
        expired: "Deze vraag is verlopen.",
        not_allowed: "Deze vraag is voor iemand anders.",
        try_again: "Dat lukte niet. Probeer het nog eens.",
    },
};
