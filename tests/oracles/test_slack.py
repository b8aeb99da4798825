"""What the channel `slack` sends is what Slack takes, by Slack's own client and by blockkit.

blockkit also builds two of the messages by itself, from the prompt alone.
"""

import html
from collections.abc import Callable
from typing import Any

import pytest
from blockkit import Actions, Button, Checkboxes, Header, Message, Option, Section, Text

from lib.block_kit import faults
from lib.edits import Path, at, edited, without
from lib.program import Call, Rendering, render
from lib.prompts import CASES, Way, made_up, question, ways


def is_well(rendering: Rendering) -> None:
    """Every call is one that Slack takes, and its controls are those that the host is told of."""
    for call in rendering.calls:
        assert faults(call.method, call.body) == [], rendering.made_by
    # Controls are on the last message.
    for call in rendering.calls[:-1]:
        assert controls(call.body) == []
    assert controls(rendering.calls[-1].body) == [(one["label"], one["token"]) for one in rendering.bindings]


def controls(body: dict[str, Any]) -> list[tuple[str, str]]:
    """What can be tapped in a message: what it shows and what it sends."""
    elements = [element for block in body["blocks"] for element in block.get("elements", [])]
    tapped = [part for element in elements for part in element.get("options", [element])]
    return [(html.unescape(part["text"]["text"]), part["value"]) for part in tapped]


@pytest.mark.parametrize("way", ways("slack"), ids=" ".join)
@pytest.mark.parametrize("case", CASES)
def test_every_case_is_taken_in_every_way(case: str, way: Way) -> None:
    is_well(render("slack", CASES[case], *way))


@pytest.mark.parametrize(("arguments", "way"), made_up("slack", 200))
def test_what_nobody_wrote_is_taken(arguments: dict[str, Any], way: Way) -> None:
    is_well(render("slack", arguments, *way))


def plain(text: str) -> Text:
    """Text in which nothing is parsed."""
    return Text(html.escape(text, quote=False), type=Text.PLAIN, emoji=False)


def button(label: str, token: str) -> Button:
    return Button(plain(label), action_id=token, value=token)


def message(asked: dict[str, Any], choose: str, answer: str, controls: Actions) -> dict[str, Any]:
    """A message with one question, as blockkit builds it."""
    title = f"A question for you · {asked['header']}"
    described = [option["label"] + said(option, " - {}") for option in asked["options"]]
    listed = [f"{number}. {option}" for number, option in enumerate(described, start=1)]
    text = "\n".join([asked["question"], "", choose, *listed, "", answer])
    built = Message(
        text=html.escape(f"{title}\n\n{text}", quote=False),
        blocks=[Header(plain(title)), Section(plain(text)), controls],
        mrkdwn=False,
    )
    where = {"channel": "C0123456789", "link_names": False, "parse": "none"}
    return built.build() | where | {"unfurl_links": False, "unfurl_media": False}


def said(option: dict[str, str], form: str) -> str:
    return form.format(option["description"]) if "description" in option else ""


def test_blockkit_builds_the_same_buttons() -> None:
    [asked] = CASES["single_select"]["questions"]
    rendering = render("slack", CASES["single_select"])
    labels = [*(option["label"] for option in asked["options"]), "Other…", "Skip"]
    buttons = [button(label, one["token"]) for label, one in zip(labels, rendering.bindings, strict=True)]
    buttons[0].style(Button.PRIMARY)
    [call] = rendering.calls
    assert call.body == message(asked, "Choose one:", "Tap a button, or reply.", Actions(buttons))


def test_blockkit_builds_the_same_check_boxes() -> None:
    [asked] = CASES["several_chosen"]["questions"]
    rendering = render("slack", CASES["several_chosen"], "--extras")
    tokens = [one["token"] for one in rendering.bindings]
    choices = Checkboxes(action_id="ask_user_choices")
    for option, token in zip(asked["options"], tokens):
        choice = Option(plain(option["label"]), value=token)
        if "description" in option:
            choice.description(plain(option["description"]))
        choices.add_option(choice)
    labels = ["Submit", "Other…", "Skip"]
    buttons = [button(label, token) for label, token in zip(labels, tokens[-3:], strict=True)]
    controls = Actions([choices, *buttons], block_id="ask_user_choices")
    [call] = rendering.calls
    assert call.body == message(asked, "Choose one or more:", "Choose from the list, or reply.", controls)


SDK, KIT, NOBODY = "slack_sdk", "blockkit", "nobody"
BLOCK_TEXT = ("blocks", 0, "text", "text")
ACTIONS = ("blocks", 2)
ELEMENTS = (*ACTIONS, "elements")
FIRST = (*ELEMENTS, 0)
OPTIONS = (*FIRST, "options")
OPTION = (*OPTIONS, 0)


def refusing(call: Call, body: dict[str, Any]) -> set[str]:
    """Who refuses a changed call: a package, or what we know where nobody does."""
    who = {fault.split(":")[0] for fault in faults(call.method, body)}
    return {one if one in {SDK, KIT} else NOBODY for one in who}


def assert_full(call: Call, path: Path, most: int, refused_by: set[str]) -> None:
    """A text of a call is the longest that is taken."""
    text = at(call.body, path)
    assert len(text) == most
    assert refusing(call, edited(call.body, path, text + "x")) == refused_by


def headed(length: int) -> dict[str, Any]:
    # At most 12 characters of a header are shown. This is one, of as many pairs of code points as are wanted.
    return question("क" + "्क" * length, "Where?", ["a", "b"])


def labelled(length: int) -> dict[str, Any]:
    return question("H", "Where?", ["L" * length, "b"])


def labelled_box(length: int) -> dict[str, Any]:
    return question("H", "Where?", ["L" * length, "b"], multiSelect=True)


def described_box(length: int) -> dict[str, Any]:
    asked = labelled_box(1)
    asked["questions"][0]["options"][0]["description"] = "d" * length
    return asked


@pytest.mark.parametrize(
    ("ask", "path", "most", "refused_by"),
    [
        (headed, BLOCK_TEXT, 150, {SDK, KIT}),
        (labelled, (*FIRST, "text", "text"), 75, {SDK, KIT}),
        (labelled_box, (*OPTION, "text", "text"), 75, {SDK, KIT}),
        (described_box, (*OPTION, "description", "text"), 75, {KIT}),
    ],
)
def test_a_text_is_as_long_as_it_may_be_and_no_longer(
    ask: Callable[[int], dict[str, Any]], path: Path, most: int, refused_by: set[str]
) -> None:
    def shown(length: int) -> Rendering:
        return render("slack", ask(length), "--extras")

    shortest, next_longer = (len(at(shown(length).calls[0].body, path)) for length in [1, 2])
    length = 1 + (most - shortest) // (next_longer - shortest)
    full = shown(length)
    is_well(full)
    assert_full(full.calls[0], path, most, refused_by)
    for more in [1, 2, 100]:
        is_well(shown(length + more))


def test_a_section_is_as_long_as_it_may_be_and_no_longer() -> None:
    # Of one word that is longer than a message, every message but the last is full.
    for letter in ["x", "<"]:
        rendering = render("slack", question("H", letter * 9000, ["a", "b"]))
        is_well(rendering)
        assert_full(rendering.calls[1], BLOCK_TEXT, 3000, {SDK, KIT})
    for length in [2800, 2900, 3000]:
        is_well(render("slack", question("H", "x" * length, ["a" * 75, "b"]), "--settled", "answered"))


@pytest.mark.parametrize(
    ("path", "most", "refused_by"),
    [
        ((*FIRST, "action_id"), 255, {SDK, KIT}),
        ((*OPTION, "value"), 150, {SDK, KIT}),
        ((*ELEMENTS, 1, "action_id"), 255, {SDK, KIT}),
        ((*ELEMENTS, 1, "value"), 2000, {SDK, KIT}),
        ((*ACTIONS, "block_id"), 255, {SDK, KIT}),
        (("text",), 40_000, {NOBODY}),
    ],
)
def test_longer_texts_than_ours_would_be_taken_up_to_the_limit(
    path: Path, most: int, refused_by: set[str]
) -> None:
    [call] = render("slack", CASES["several_chosen"], "--extras").calls
    assert len(at(call.body, path)) < most
    full = Call(call.method, edited(call.body, path, "x" * most), call.text)
    assert faults(full.method, full.body) == []
    assert_full(full, path, most, refused_by)


@pytest.mark.parametrize(
    ("path", "unique", "most", "refused_by"),
    [
        (ELEMENTS, "action_id", 25, {SDK, KIT}),
        (OPTIONS, "value", 10, {KIT}),
        (("blocks",), "block_id", 50, {NOBODY}),
    ],
)
def test_more_parts_than_ours_would_be_taken_up_to_the_limit(
    path: Path, unique: str, most: int, refused_by: set[str]
) -> None:
    [call] = render("slack", CASES["several_chosen"], "--extras").calls

    def with_parts(total: int) -> dict[str, Any]:
        ours = at(call.body, path)
        more = [ours[-1] | {unique: f"more-{number}"} for number in range(total - len(ours))]
        return edited(call.body, path, [*ours, *more])

    assert len(at(call.body, path)) < most
    assert faults(call.method, with_parts(most)) == []
    assert refusing(call, with_parts(most + 1)) == refused_by


@pytest.mark.parametrize(
    ("path", "value", "refused_by"),
    [
        (("as_users",), True, {SDK, KIT}),
        (("thread_ts",), 1712345678, {KIT}),
        (("text",), "", {SDK}),
        (("text",), "Where? <!channel>", {NOBODY}),
        (("blocks", 0), {"type": "heading"}, {SDK, KIT}),
        ((*BLOCK_TEXT[:-1], "type"), "mrkdwn", {KIT}),
        (BLOCK_TEXT, "", {KIT}),
        (BLOCK_TEXT, "R&D", {NOBODY}),
        (BLOCK_TEXT, "<@U1>", {NOBODY}),
        (("blocks", 1, "title"), "Where?", {SDK, KIT}),
        (("blocks", 1, "text", "size"), 2, {SDK, KIT}),
        (ELEMENTS, [], {SDK, KIT}),
        ((*FIRST, "type"), "checkbox", {SDK, KIT}),
        ((*FIRST, "options"), [], {SDK, KIT}),
        ((*OPTION, "hint"), "a", {SDK, KIT}),
        ((*OPTION, "value"), "", {KIT}),
        ((*OPTION, "text", "text"), "", {KIT}),
        ((*ELEMENTS, 1, "style"), "secondary", {SDK, KIT}),
        ((*ELEMENTS, 1, "label"), "a", {SDK, KIT}),
        ((*ELEMENTS, 1, "text", "type"), "mrkdwn", {KIT}),
        ((*ELEMENTS, 1, "text", "text"), "", {KIT}),
        ((*ELEMENTS, 1, "action_id"), "ask_user_choices", {NOBODY}),
    ],
)
def test_what_slack_would_refuse_is_refused(path: Path, value: Any, refused_by: set[str]) -> None:
    [call] = render("slack", CASES["several_chosen"], "--extras").calls
    assert refusing(call, edited(call.body, path, value)) >= refused_by


@pytest.mark.parametrize(
    ("path", "refused_by"),
    [
        (("channel",), {SDK}),
        (("text",), {SDK}),
        (("blocks", 1, "text"), {SDK, KIT}),
        ((*OPTION, "value"), {SDK, KIT}),
        ((*ELEMENTS, 1, "text"), {SDK, KIT}),
    ],
)
def test_what_slack_would_miss_is_missed(path: Path, refused_by: set[str]) -> None:
    [call] = render("slack", CASES["several_chosen"], "--extras").calls
    assert refusing(call, without(call.body, path)) >= refused_by


def test_a_method_that_there_is_not_is_refused() -> None:
    [call] = render("slack", CASES["single_select"]).calls
    assert refusing(Call("chat.post", call.body, ""), call.body) == {SDK}
