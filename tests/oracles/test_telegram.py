"""What the channel `telegram` sends is what the Bot API takes, by aiogram."""

from html.parser import HTMLParser
from typing import Any

import pytest

from lib.bot_api import as_html, faults
from lib.edits import Path, edited, without
from lib.program import Call, Rendering, render
from lib.prompts import CASES, Way, made_up, question, ways

TEXT = 4096
TEXT_LENGTH = "1-4096 characters"
DATA = 64
ENTITIES = 100


def is_well(rendering: Rendering) -> None:
    """Every call is one that Telegram takes, and its buttons are those that the host is told of."""
    for call in rendering.calls:
        assert faults(call.method, call.body) == [], rendering.made_by
        assert_harmless(call)
    # A message that ends a prompt has no buttons.
    for call in rendering.calls[:-1]:
        assert "reply_markup" not in call.body
    rows = rendering.calls[-1].body.get("reply_markup", {}).get("inline_keyboard", [])
    shown = [(button["text"], button["callback_data"]) for row in rows for button in row]
    assert shown == [(binding["label"], binding["token"]) for binding in rendering.bindings]


class Seen(HTMLParser):
    """A message as a client shows it: its text, and what of it is neither code nor a mention of ours."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.open = "", ""
        self._inside: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._inside.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if not {"code", "a"} & set(self._inside):
            self.open += data


def assert_harmless(call: Call) -> None:
    """Entities lose nothing of the text, and cover what a client would make a link of by itself."""
    seen = Seen(as_html(call.method, call.body))
    assert seen.text == call.body["text"]
    for alive in ["@", "#", "://", "/start", "$TSLA", "t.me", "example.org"]:
        assert alive not in seen.open


@pytest.mark.parametrize("way", ways("telegram"), ids=" ".join)
@pytest.mark.parametrize("case", CASES)
def test_every_case_is_taken_in_every_way(case: str, way: Way) -> None:
    is_well(render("telegram", CASES[case], *way))


@pytest.mark.parametrize(("arguments", "way"), made_up("telegram", 200))
def test_what_nobody_wrote_is_taken(arguments: dict[str, Any], way: Way) -> None:
    is_well(render("telegram", arguments, *way))


def test_a_message_is_as_long_as_it_may_be_and_no_longer() -> None:
    # Of one word that is longer than a message, every message but the last is full.
    rendering = render("telegram", question("H", "x" * 3 * TEXT, ["a", "b"]))
    is_well(rendering)
    assert_full(rendering.calls[1])


def test_an_ended_message_is_as_long_as_it_may_be_and_no_longer() -> None:
    ended = ("--settled", "answered")

    def shown(text: int, label: int) -> Rendering:
        return render("telegram", question("H", "x" * text, ["L" * label, "b"]), *ended)

    # It has the room that telling how to answer took. With a label this long, the answer takes all of it.
    pending = render("telegram", question("H", "x", ["L", "b"])).calls[0].text
    label = 1 + len(pending) - len(shown(1, 1).calls[0].text)
    text = 1 + TEXT - len(shown(1, label).calls[0].text)
    rendering = shown(text, label)
    is_well(rendering)
    assert_full(rendering.calls[0])
    for more in [1, 2, 100, 3 * TEXT]:
        is_well(shown(text + more, label))


def assert_full(call: Call) -> None:
    """The call's text is the longest that is taken."""
    assert len(call.body["text"]) == TEXT
    longer = call.body | {"text": call.body["text"] + "x"}
    assert faults(call.method, longer) == [f"{call.method}.text: {TEXT + 1} of {TEXT_LENGTH}"]


def test_data_of_a_button_is_at_most_64_bytes() -> None:
    [call] = render("telegram", CASES["single_select"]).calls

    def with_id(prompt: str) -> list[str]:
        return faults(call.method, edited(call.body, (*BUTTON, "callback_data"), f"au1:{prompt}:0:0"))

    assert with_id("i" * (DATA - 8)) == []
    for prompt in ["i" * (DATA - 7), "é" * 29]:
        by_the_page, by_aiogram = with_id(prompt)
        assert "of 1-64 bytes" in by_the_page and "callback data is too long" in by_aiogram


def test_there_are_at_most_100_entities() -> None:
    rendering = render("telegram", question("H", " ".join(["@a b"] * 3 * ENTITIES), ["a", "b"]))
    is_well(rendering)
    [call] = rendering.calls
    entities = call.body["entities"]
    assert len(entities) == ENTITIES
    last = entities[-1]["offset"] + entities[-1]["length"]
    more = [*entities, {"type": "bold", "offset": last, "length": len(call.body["text"]) - last}]
    assert faults(call.method, call.body | {"entities": more}) == ["entities: 101 of 100"]


KEYBOARD = ("reply_markup", "inline_keyboard")
BUTTON = (*KEYBOARD, 0, 0)
# What is no inline keyboard is read as another thing that can stand there.
NO_KEYBOARD = "reply_markup[0]: has no member inline_keyboard"


@pytest.fixture(scope="module")
def call() -> Call:
    """A call that is well, with all that can be spoilt."""
    rendering = render("telegram", question("🎉", "Where? #now", ["Staging (Recommended)", "Production"]))
    is_well(rendering)
    return rendering.calls[0]


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("text",), "", "text: 0 of 1-4096"),
        (("message_thread_id",), "42", "message_thread_id: Input should be a valid integer"),
        (("parse_markup",), "HTML", "has no member parse_markup"),
        (("reply_to_message_id",), 1, "reply_to_message_id: is deprecated"),
        (("link_preview_options", "disabled"), True, "has no member disabled"),
        (("reply_markup", "keyboard"), [], "has no member keyboard"),
        ((*KEYBOARD, 0), {"text": "a", "callback_data": "au1:i:x"}, NO_KEYBOARD),
        ((*BUTTON, "label"), "a", "has no member label"),
        ((*BUTTON, "style"), "secondary", "style: secondary is none"),
        ((*BUTTON, "callback_data"), "", "callback_data: 0 of 1-64 bytes"),
        ((*BUTTON, "callback_data"), "tgq1:i:0:0", "Bad prefix"),
        ((*BUTTON, "callback_data"), "au1:i:00:0", "is packed as au1:i:0:0"),
        ((*BUTTON, "url"), "https://a.example", "does ['callback_data', 'url'], and not one thing"),
        (("entities", 0, "type"), "heading", "type: heading is none"),
        (("entities", 0, "offset"), 10_000, "goes beyond the text"),
        (("entities", 0, "offset"), -1, "goes beyond the text"),
        (("entities", 0, "length"), 0, "covers nothing"),
        (("entities", 0, "length"), 22, "begins or ends inside of a character"),
        (("entities", 1, "offset"), 1, "begins inside of another one"),
    ],
)
def test_what_telegram_would_refuse_is_refused(call: Call, path: Path, value: Any, fault: str) -> None:
    found = faults(call.method, edited(call.body, path, value))
    assert any(fault in one for one in found), found


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        (("chat_id",), "chat_id: Field required"),
        (("text",), "text: Field required"),
        ((*BUTTON, "text"), NO_KEYBOARD),
        ((*BUTTON, "callback_data"), "does [], and not one thing"),
        (("entities", 0, "offset"), "offset: Field required"),
    ],
)
def test_what_telegram_would_miss_is_missed(call: Call, path: Path, fault: str) -> None:
    found = faults(call.method, without(call.body, path))
    assert any(fault in one for one in found), found


def test_a_method_that_there_is_not_is_refused() -> None:
    assert faults("sendMessages", {}) == ["there is no method sendMessages"]
