"""Changes to a call, for showing that a judge refuses what is wrong."""

from copy import deepcopy
from typing import Any

Path = tuple[str | int, ...]


def at(body: Any, path: Path) -> Any:
    """What is at a path."""
    for step in path:
        body = body[step]
    return body


def edited(body: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """The call with another value at a path."""
    changed = deepcopy(body)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def without(body: dict[str, Any], path: Path) -> dict[str, Any]:
    """The call without what is at a path."""
    changed = deepcopy(body)
    del at(changed, path[:-1])[path[-1]]
    return changed
