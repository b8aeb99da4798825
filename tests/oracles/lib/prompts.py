"""The prompts that are shown: those in files, those made up, and the ways in which each of them can be shown.

What is made up comes from a fixed seed, so that every run sees the same prompts.
"""

import json
import random
from pathlib import Path
from typing import Any

# Options of `ask-user render`.
Way = tuple[str, ...]

HERE = Path(__file__).parent.parent
FILES = sorted([*HERE.glob("cases/*.json"), *HERE.glob("../../examples/*.json")])
# The arguments of `ask_user` in each of the files, by the file's name.
CASES: dict[str, dict[str, Any]] = {file.stem: json.loads(file.read_text("utf-8")) for file in FILES}

SETTLEMENTS = ["answered", "expired", "skipped", "cancelled", "undeliverable"]
LOCALES = ["nl", "id-ID"]
# A person and a thread, as each service names them.
PERSON = {"telegram": "4815162342", "slack": "U0123456789"}
THREAD = {"telegram": "42", "slack": "1712345678.000100"}

SEED = 20261207
# What labels begin or end with, so that no two of a question are the same.
NAMES = ["Staging", "Production", "生产环境", "בדיקות"]
PIECES = [
    "deploy", "the", "canary", "1.", "2)", "R&D", "<b>", "</b>", "a<b>c", "&amp;", "*bold*", "_it_", "~no~",
    "`code`", "|x|", "[a](https://evil.example)", "<https://evil.example|here>", "<!channel>", "<@U1>",
    "@everyone", "#general", "/start", "$TSLA", "t.me/x", "ada@example.org", "+1-212-555-0123",
    "部署", "环境", "קישור", "رابط", "क्ष्म", "e\u0301\u0302", "🚀", "👩‍👩‍👧", "🇳🇱", "👍🏽",
    "\u202eesrever", "\u200b", "tab\there", "new\nline", "\x1b[2K",
    "z" * 60, "y" * 75, "&" * 15, "部" * 37, "🚀" * 30,
]  # fmt: skip


def question(header: str, text: str, labels: list[str], **more: Any) -> dict[str, Any]:
    """The arguments of `ask_user` with one question."""
    options = [{"label": label} for label in labels]
    return {"questions": [{"id": "q", "header": header, "question": text, "options": options, **more}]}


def ways(channel: str) -> list[Way]:
    """How every case is shown."""
    group = ("--shared", "--requester", PERSON[channel])
    thread = ("--thread", THREAD[channel])
    return [
        (),
        ("--extras",),
        group,
        thread,
        *(("--locale", locale, "--extras") for locale in LOCALES),
        *(("--settled", outcome) for outcome in SETTLEMENTS),
        ("--settled", "answered", "--extras", *group, *thread),
    ]


def made_up(channel: str, count: int) -> list[tuple[dict[str, Any], Way]]:
    """Prompts that nobody wrote, each with a way to show it."""
    chance = random.Random(f"{SEED} {channel}")
    return [(_arguments(chance), _way(chance, channel)) for _ in range(count)]


def _arguments(chance: random.Random) -> dict[str, Any]:
    total = chance.choice([1, 1, 1, 1, 2, 3])
    return {"questions": [_question(chance, index) for index in range(total)]}


def _words(chance: random.Random, most: int) -> str:
    return " ".join(chance.choices(PIECES, k=chance.randint(1, most)))


def _label(chance: random.Random, name: str) -> str:
    words = _words(chance, 4)
    label = chance.choice([name, f"{name} {words}", f"{words} {name}"])
    return f"{label} (Recommended)" if chance.random() < 0.2 else label


def _option(chance: random.Random, name: str) -> dict[str, str]:
    described = {"description": f"So {_words(chance, 12)}"} if chance.random() < 0.5 else {}
    return {"label": _label(chance, name), **described}


def _question(chance: random.Random, index: int) -> dict[str, Any]:
    names = chance.sample(NAMES, k=chance.randint(2, 4))
    return {
        "id": f"q_{index}",
        "header": f"H {_words(chance, 2)}",
        # One in ten is longer than a message of any service.
        "question": f"What {_words(chance, 900 if chance.random() < 0.1 else 15)}?",
        "options": [_option(chance, name) for name in names],
        "multiSelect": chance.random() < 0.4,
    }


def _way(chance: random.Random, channel: str) -> Way:
    parts = [
        ("--extras",),
        ("--shared", "--requester", PERSON[channel]),
        ("--thread", THREAD[channel]),
        ("--locale", chance.choice(LOCALES)),
        ("--settled", chance.choice(SETTLEMENTS)),
    ]
    return tuple(option for part in parts if chance.random() < 0.4 for option in part)
