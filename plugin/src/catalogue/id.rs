//! Indonesian.

use super::{Controls, Corrections, FeedbackWords, Form, Language, Status};

pub(super) static INDONESIAN: Language = Language {
    tag: "id",
    // The code of ISO 639 before 1989, which some systems still send.
    also: &["in"],
    controls: Controls {
        other: "Lainnya…",
        own_answer: "Jawaban Anda sendiri",
        skip: "Lewati",
        skip_command: "/lewati",
        next: "Berikutnya",
        back: "Kembali",
        submit: "Kirim",
        choose_one: "Pilih satu",
        choose_any: "Pilih satu atau lebih",
        step: "Pertanyaan {n} dari {total}",
        seconds_left: "sisa {seconds} dtk",
    },
    form: Form {
        intro_one: "Satu pertanyaan untuk Anda",
        intro_many: "{total} pertanyaan untuk Anda",
        link: "Tautan:",
        choose_one: "Pilih satu:",
        choose_any: "Pilih satu atau lebih:",
        own_words: "Kata-kata Anda sendiri juga boleh.",
        hint_number: "Balas dengan nomor, pilihan, atau kata-kata Anda sendiri.",
        hint_number_closed: "Balas dengan nomor atau pilihan.",
        hint_letter: "Balas dengan huruf, pilihan, atau kata-kata Anda sendiri.",
        hint_letter_closed: "Balas dengan huruf atau pilihan.",
        hint_many: "Pisahkan beberapa pilihan dengan koma, misalnya {example}.",
        hint_free: "Balas dengan kata-kata Anda sendiri.",
        hint_lines: "Jawab semua pertanyaan dalam satu pesan, satu baris untuk masing-masing, misalnya “{example}”.",
        hint_skip: "Untuk melewati, balas {command}.",
        hint_tap: "Ketuk tombol, atau balas.",
    },
    status: Status {
        answered: "Sudah dijawab",
        answered_with: "Dijawab: {answers}",
        skipped: "Dilewati",
        expired: "Kedaluwarsa tanpa jawaban",
        cancelled: "Dibatalkan",
        undeliverable: "Tidak dapat ditampilkan",
    },
    corrections: Corrections {
        type_own: "Silakan ketik jawaban Anda sendiri.",
        only_choices: "Silakan pilih salah satu:",
        out_of_range: "Silakan pilih dari {first} sampai {last}. Belum ada yang diterima.",
        missing: "Masih diperlukan: {missing}. Sisanya disimpan.",
        too_many_lines: "Itu {lines} baris untuk {total} pertanyaan. Tulis satu baris untuk setiap pertanyaan.",
        answered_twice: "Itu menjawab “{question}” dua kali. Kirim satu jawaban saja.",
        about: "{question}: {correction}",
        credential: "Itu tampak seperti kata sandi atau kunci. Itu tidak disimpan. Jangan pernah mengirimnya di sini; \
                     agen punya alat rahasia (secrets) untuk itu.",
        credential_warning: "Itu tampak seperti kata sandi atau kunci. Gunakan alat rahasia (secrets) agen untuk itu.",
        too_long: "Jawaban itu {received} bita; paling banyak {limit} yang mungkin.",
    },
    feedback: FeedbackWords {
        accepted: "Terima kasih.",
        already_answered: "Pertanyaan ini sudah dijawab.",
        expired: "Pertanyaan ini sudah kedaluwarsa.",
        not_allowed: "Pertanyaan ini untuk orang lain.",
        try_again: "Itu tidak berhasil. Silakan coba lagi.",
    },
};
