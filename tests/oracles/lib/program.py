"""`ask-user render`: what a channel would send for a prompt."""

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from typing import Any

# The first start compiles the component; all others take some hundredths of a second.
PATIENCE = 120


@dataclass(frozen=True)
class Call:
    """One call of the service's API."""

    method: str
    body: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Rendering:
    """What `ask-user render` printed."""

    calls: list[Call]
    bindings: list[dict[str, Any]]
    # The command line that shows it again.
    made_by: str


def render(channel: str, arguments: dict[str, Any], *options: str) -> Rendering:
    """What `channel` would send for these arguments of `ask_user`."""
    options = ("render", "--channel", channel, "--json", *options, "-")
    asked = json.dumps(arguments, ensure_ascii=False)
    made_by = f"ask-user {shlex.join(options)} <<< {shlex.quote(asked)}"
    command = [os.environ["ASK_USER_PROGRAM"], *options]
    done = subprocess.run(command, input=asked, capture_output=True, encoding="utf-8", timeout=PATIENCE)
    assert done.returncode == 0, f"{made_by}\n{done.stderr}"
    printed = json.loads(done.stdout)
    return Rendering([Call(**call) for call in printed["calls"]], printed["bindings"], made_by)
