"""The judges of Slack's calls: slack_sdk, which is Slack's own client, and blockkit, a builder of Block Kit.

slack_sdk knows the methods and reads blocks, but looks only at the object that it is asked about, so it is
asked about each of them. blockkit also keeps the limits of options and the kinds of text; it reads no JSON, so
every object is put into its class. Both make JSON again, which has to be what they were given. What neither of
them knows comes last.
"""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import blockkit
from slack_sdk import WebClient
from slack_sdk.models.basic_objects import JsonObject
from slack_sdk.models.blocks import Block

CLASSES = {
    "plain_text": lambda **members: blockkit.Text(type="plain_text", **members),
    "mrkdwn": lambda **members: blockkit.Text(type="mrkdwn", **members),
    "header": blockkit.Header,
    "section": blockkit.Section,
    "actions": blockkit.Actions,
    "button": blockkit.Button,
    "checkboxes": blockkit.Checkboxes,
}
# What belongs to the conversation and not to the message, so that blockkit has no place for it.
AROUND = {"channel", "ts", "link_names", "parse", "unfurl_links", "unfurl_media"}
MOST_BLOCKS = 50
MOST_TEXT = 40_000
# The three characters that Slack parses in any text, where they are not written as entities.
PARSED = re.compile(r"[<>]|&(?!(?:amp|lt|gt);)")


class Recorder(WebClient):
    """Slack's client, which here keeps what it would send."""

    sent: tuple[str, dict[str, Any]]

    def api_call(self, api_method: str, *, json: dict[str, Any], **_: Any) -> None:
        self.sent = (api_method, json)


def faults(method: str, body: dict[str, Any]) -> list[str]:
    """What is wrong with a call; nothing where all is well."""
    blocks = body.get("blocks", [])
    found = refusals("slack_sdk", lambda: send(method, body))
    for index, block in enumerate(blocks):
        found += refusals(f"slack_sdk: blocks[{index}]", lambda block=block: read(block))
    message = {name: value for name, value in body.items() if name not in AROUND}
    found += refusals("blockkit", lambda: same(built(message), message))
    return found + list(of_nobody(body))


def refusals(who: str, ask: Callable[[], None]) -> list[str]:
    """What one of the packages has against something, in whatever way it says so."""
    try:
        ask()
    # Each of them has errors of its own, and those of Python for unknown members.
    except Exception as refusal:
        return [f"{who}: {type(refusal).__name__}: {refusal}"]
    return []


def same(made: Any, given: Any) -> None:
    """Refuses what a package makes otherwise than it was given."""
    if made != given:
        raise ValueError(f"{given} is read as {made}")


def send(method: str, body: dict[str, Any]) -> None:
    """Makes the call with Slack's client, which refuses missing members and warns of what is bad style."""
    client = Recorder()
    call = getattr(client, method.replace(".", "_"))
    # The client hands on members that it does not know.
    if unknown := body.keys() - inspect.signature(call).parameters.keys():
        raise TypeError(f"{method} has no {sorted(unknown)}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(**deepcopy(body))
    same(client.sent, (method, body))


def read(block: dict[str, Any]) -> None:
    """Reads a block with slack_sdk and asks it about every object in it."""
    parsed = Block.parse(deepcopy(block))
    if parsed is None:
        raise ValueError(f"there is no block {block.get('type')}")
    for part in parts(parsed):
        part.validate_json()
    same(parsed.to_dict(), block)


def parts(value: Any) -> Iterator[JsonObject]:
    """An object of slack_sdk and all objects in it, also those that it holds under a private name."""
    if isinstance(value, JsonObject):
        yield value
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from parts(part)


def built(message: dict[str, Any]) -> dict[str, Any]:
    """The message as blockkit builds it."""
    return blockkit.Message(**{name: component(value) for name, value in message.items()}).build()


def component(value: Any) -> Any:
    """A value with its objects in blockkit's classes. The one without a type is an option."""
    if isinstance(value, list):
        return [component(part) for part in value]
    if not isinstance(value, dict):
        return value
    members = {name: component(part) for name, part in value.items() if name != "type"}
    return CLASSES[value["type"]](**members) if "type" in value else blockkit.Option(**members)


def of_nobody(body: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a call that no package looks at."""
    blocks = body.get("blocks", [])
    if len(blocks) > MOST_BLOCKS:
        yield f"blocks: {len(blocks)} of {MOST_BLOCKS}"
    if len(body.get("text", "")) > MOST_TEXT:
        yield f"text: {len(body['text'])} of {MOST_TEXT}"
    yield from twice("block_id", blocks)
    for block in blocks:
        yield from twice("action_id", block.get("elements", []))
    for text in texts(body):
        if PARSED.search(text):
            yield f"text: {text!r} holds what Slack parses"


def twice(name: str, objects: list[dict[str, Any]]) -> Iterator[str]:
    """Ids that more than one of the objects has."""
    ids = [part[name] for part in objects if name in part]
    for repeated in sorted({one for one in ids if ids.count(one) > 1}):
        yield f"{name}: {repeated} is there more than once"


def texts(value: Any) -> Iterator[str]:
    """All that people will read in a call."""
    if isinstance(value, list):
        for part in value:
            yield from texts(part)
    if isinstance(value, dict):
        for name, part in value.items():
            if name == "text" and isinstance(part, str):
                yield part
            else:
                yield from texts(part)
