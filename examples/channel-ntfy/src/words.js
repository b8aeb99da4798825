// Our own words, in English, Dutch and Indonesian. What the agent wrote is never translated.

const english = {
  oneQuestion: "A question for you",
  questions: (total) => `${total} questions for you`,
  step: (n, total) => `Question ${n} of ${total}`,
  link: "Link:",
  chooseOne: "Choose one:",
  chooseAny: "Choose one or more:",
  tap: "Tap a button, or reply.",
  reply: (mark, takesOwnText) =>
    `Reply with a ${mark === "letter" ? "letter" : "number"}` +
    (takesOwnText ? ", an option or your own words." : " or an option."),
  replyFree: "Reply in your own words.",
  replySeveral: (example) => `Separate several choices with commas, as in ${example}.`,
  replyLines: (example) => `Answer every question in one message, a line each, as in “${example}”.`,
  ownWords: "Your own words are fine too.",
  replySkip: "To skip, reply /skip.",
  skip: "Skip",
  answered: "Answered",
  ended: {
    expired: "Expired without an answer",
    skipped: "Skipped",
    cancelled: "Cancelled",
    undeliverable: "Could not be shown",
  },
  feedback: {
    "already-answered": "This question was already answered.",
    expired: "This question has expired.",
    "not-allowed": "This question is for somebody else.",
    "nothing-chosen": "Please choose at least one.",
    "try-again": "That did not work. Please try again.",
  },
};

const dutch = {
  oneQuestion: "Een vraag voor je",
  questions: (total) => `${total} vragen voor je`,
  step: (n, total) => `Vraag ${n} van ${total}`,
  link: "Link:",
  chooseOne: "Kies er één:",
  chooseAny: "Kies er één of meer:",
  tap: "Tik op een knop, of antwoord.",
  reply: (mark, takesOwnText) =>
    `Antwoord met een ${mark === "letter" ? "letter" : "nummer"}` +
    (takesOwnText ? ", een optie of je eigen woorden." : " of een optie."),
  replyFree: "Antwoord in je eigen woorden.",
  replySeveral: (example) => `Scheid meerdere keuzes met komma's, zoals ${example}.`,
  replyLines: (example) =>
    `Beantwoord alle vragen in één bericht, elk op een eigen regel, zoals “${example}”.`,
  ownWords: "Je eigen woorden mogen ook.",
  replySkip: "Overslaan? Antwoord /overslaan.",
  skip: "Overslaan",
  answered: "Beantwoord",
  ended: {
    expired: "Verlopen zonder antwoord",
    skipped: "Overgeslagen",
    cancelled: "Geannuleerd",
    undeliverable: "Kon niet worden getoond",
  },
  feedback: {
    "already-answered": "Deze vraag is al beantwoord.",
    expired: "Deze vraag is verlopen.",
    "not-allowed": "Deze vraag is voor iemand anders.",
    "nothing-chosen": "Kies er minstens één.",
    "try-again": "Dat lukte niet. Probeer het nog eens.",
  },
};

const indonesian = {
  oneQuestion: "Satu pertanyaan untuk Anda",
  questions: (total) => `${total} pertanyaan untuk Anda`,
  step: (n, total) => `Pertanyaan ${n} dari ${total}`,
  link: "Tautan:",
  chooseOne: "Pilih satu:",
  chooseAny: "Pilih satu atau lebih:",
  tap: "Ketuk tombol, atau balas.",
  reply: (mark, takesOwnText) =>
    `Balas dengan ${mark === "letter" ? "huruf" : "nomor"}` +
    (takesOwnText ? ", pilihan, atau kata-kata Anda sendiri." : " atau pilihan."),
  replyFree: "Balas dengan kata-kata Anda sendiri.",
  replySeveral: (example) => `Pisahkan beberapa pilihan dengan koma, misalnya ${example}.`,
  replyLines: (example) =>
    `Jawab semua pertanyaan dalam satu pesan, satu baris untuk masing-masing, misalnya “${example}”.`,
  ownWords: "Kata-kata Anda sendiri juga boleh.",
  replySkip: "Untuk melewati, balas /lewati.",
  skip: "Lewati",
  answered: "Sudah dijawab",
  ended: {
    expired: "Kedaluwarsa tanpa jawaban",
    skipped: "Dilewati",
    cancelled: "Dibatalkan",
    undeliverable: "Tidak dapat ditampilkan",
  },
  feedback: {
    "already-answered": "Pertanyaan ini sudah dijawab.",
    expired: "Pertanyaan ini sudah kedaluwarsa.",
    "not-allowed": "Pertanyaan ini untuk orang lain.",
    "nothing-chosen": "Silakan pilih setidaknya satu.",
    "try-again": "Itu tidak berhasil. Silakan coba lagi.",
  },
};

/** All languages, for whoever looks for a word in any of them. */
export const LANGUAGES = [english, dutch, indonesian];

/**
 * The language of a BCP 47 tag, English where we do not have it. `in` is what Indonesian was called before
 * 1989.
 */
export function language(tag) {
  const primary = (tag ?? "").split(/[-_]/)[0].toLowerCase();
  if (primary === "nl") return dutch;
  return primary === "id" || primary === "in" ? indonesian : english;
}
