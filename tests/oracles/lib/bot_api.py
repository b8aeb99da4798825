"""The judge of Telegram's calls: aiogram, whose models are generated from the pages of the Bot API.

Its models say which members there are and of what type. They take unknown members, so those are looked for.
They keep no limits, but have the API's own sentence beside each member ("1-4096 characters"), which is read.
"""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

from aiogram import methods
from aiogram.filters.callback_data import CallbackData
from aiogram.types import InlineKeyboardButton, MessageEntity
from aiogram.utils.text_decorations import html_decoration
from pydantic import BaseModel, ValidationError

METHODS = {
    form.__api_method__: form
    for form in vars(methods).values()
    if inspect.isclass(form) and isinstance(getattr(form, "__api_method__", None), str)
}
# Entities beyond this number are dropped by the service; no package knows of it.
MOST_ENTITIES = 100

LENGTH = re.compile(r"\b(\d+)-(\d+) (characters|bytes)\b")
ONE_OF = re.compile(r"(?:[Mm]ust be one of|[Cc]urrently, can be) (.*)")
QUOTED = re.compile(r"(?<!\w)'([a-z_]+)'")


class OfQuestion(CallbackData, prefix="au1"):
    """The token of a control of one question, as aiogram's own bots pack theirs."""

    prompt: str
    question: int
    control: str


class OfPrompt(CallbackData, prefix="au1"):
    """The token of the control that skips the prompt."""

    prompt: str
    control: Literal["x"]


def faults(method: str, body: dict[str, Any]) -> list[str]:
    """What is wrong with a call; nothing where all is well."""
    form = METHODS.get(method)
    if form is None:
        return [f"there is no method {method}"]
    try:
        call = form.model_validate_json(json.dumps(body), strict=True)
    except ValidationError as refusal:
        return [f"{path(error['loc'])}: {error['msg']}" for error in refusal.errors()]
    found = list(of_model(call, method))
    read = call.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if read != body:
        found.append(f"{method}: is read as {json.dumps(read, ensure_ascii=False)}")
    return found + list(of_entities(call.text or "", getattr(call, "entities", None) or []))


def path(parts: tuple[str | int, ...]) -> str:
    """Where in a call something is."""
    return ".".join(str(part) for part in parts)


def of_model(model: BaseModel, where: str) -> Iterator[str]:
    """What is wrong with an object and all that is in it."""
    for name in model.model_extra or {}:
        yield f"{where}: has no member {name}"
    for name in sorted(model.model_fields_set & type(model).model_fields.keys()):
        value, at = getattr(model, name), f"{where}.{name}"
        if (type(model).model_fields[name].json_schema_extra or {}).get("deprecated"):
            yield f"{at}: is deprecated"
        if isinstance(value, str):
            yield from of_text(value, sentences(type(model)).get(name, ""), at)
        for index, part in enumerate(flat(value)):
            yield from of_model(part, f"{at}[{index}]")
    if isinstance(model, InlineKeyboardButton):
        yield from of_button(model, where)


def flat(value: Any) -> Iterator[BaseModel]:
    """The objects in a value, which may be lists of lists of them."""
    if isinstance(value, BaseModel):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from flat(part)


@cache
def sentences(model: type[BaseModel]) -> dict[str, str]:
    """What the API says of each member, which aiogram has as a text behind it."""
    body = ast.parse(inspect.getsource(model)).body[0].body
    return {
        member.target.id: said.value.value
        for member, said in zip(body, body[1:])
        if isinstance(member, ast.AnnAssign) and isinstance(said, ast.Expr)
    }


def of_text(value: str, sentence: str, at: str) -> Iterator[str]:
    """What is wrong with a text by the sentence that the API has about it."""
    if length := LENGTH.search(sentence):
        least, most = int(length[1]), int(length[2])
        # The API does not say what a character is. Of UTF-16 units, as in entities, there are never fewer.
        measured = len(value.encode()) if length[3] == "bytes" else utf16_len(value)
        if not least <= measured <= most:
            yield f"{at}: {measured} of {length[0]}"
    if (known := ONE_OF.search(sentence)) and value not in QUOTED.findall(known[1]):
        yield f"{at}: {value} is none of those that are known"


def of_button(button: InlineKeyboardButton, at: str) -> Iterator[str]:
    """What is wrong with what a button does."""
    actions = button.model_fields_set - {"text", "style", "icon_custom_emoji_id"}
    if len(actions) != 1:
        yield f"{at}: does {sorted(actions)}, and not one thing"
    data = button.callback_data
    if data is None:
        return
    form = OfPrompt if data.count(":") == 2 else OfQuestion
    try:
        packed = form.unpack(data).pack()
    except (TypeError, ValueError) as refusal:
        yield f"{at}.callback_data: {refusal}"
    else:
        if packed != data:
            yield f"{at}.callback_data: {data} is packed as {packed}"


def of_entities(text: str, entities: list[MessageEntity]) -> Iterator[str]:
    """What is wrong with the entities of a text."""
    if len(entities) > MOST_ENTITIES:
        yield f"entities: {len(entities)} of {MOST_ENTITIES}"
    end = 0
    for index, entity in enumerate(entities):
        at = f"entities[{index}]"
        try:
            covered = entity.extract_from(text)
        except UnicodeDecodeError:
            yield f"{at}: begins or ends inside of a character"
            continue
        if entity.offset < 0 or utf16_len(covered) != entity.length:
            yield f"{at}: goes beyond the text"
        # One that covers white space alone is dropped by the service, which harms nobody.
        if not covered:
            yield f"{at}: covers nothing"
        if entity.offset < end:
            yield f"{at}: begins inside of another one"
        end = entity.offset + entity.length


def as_html(method: str, body: dict[str, Any]) -> str:
    """The text of a call with its entities as HTML, as aiogram writes it."""
    call = METHODS[method].model_validate(body)
    return html_decoration.unparse(call.text, call.entities)


def utf16_len(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2
