"""The table of methods."""

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from acp_client.protocol import methods, models
from acp_client.protocol.methods import METHODS, Method

SESSION = "agentCapabilities.sessionCapabilities"
CLIENT = "clientCapabilities"

# method, direction, kind, capability: written down from the protocol's documents
TABLE = [
    ("initialize", "to_agent", "request", None),
    ("authenticate", "to_agent", "request", None),
    ("logout", "to_agent", "request", "agentCapabilities.auth.logout"),
    ("session/new", "to_agent", "request", None),
    ("session/load", "to_agent", "request", "agentCapabilities.loadSession"),
    ("session/resume", "to_agent", "request", f"{SESSION}.resume"),
    ("session/list", "to_agent", "request", f"{SESSION}.list"),
    ("session/delete", "to_agent", "request", f"{SESSION}.delete"),
    ("session/close", "to_agent", "request", f"{SESSION}.close"),
    ("session/set_mode", "to_agent", "request", None),
    ("session/set_config_option", "to_agent", "request", None),
    ("session/prompt", "to_agent", "request", None),
    ("session/cancel", "to_agent", "notification", None),
    ("session/update", "to_client", "notification", None),
    ("session/request_permission", "to_client", "request", None),
    ("fs/read_text_file", "to_client", "request", f"{CLIENT}.fs.readTextFile"),
    ("fs/write_text_file", "to_client", "request", f"{CLIENT}.fs.writeTextFile"),
    ("terminal/create", "to_client", "request", f"{CLIENT}.terminal"),
    ("terminal/output", "to_client", "request", f"{CLIENT}.terminal"),
    ("terminal/wait_for_exit", "to_client", "request", f"{CLIENT}.terminal"),
    ("terminal/kill", "to_client", "request", f"{CLIENT}.terminal"),
    ("terminal/release", "to_client", "request", f"{CLIENT}.terminal"),
    ("elicitation/create", "to_client", "request", f"{CLIENT}.elicitation"),
    ("elicitation/complete", "to_client", "notification", f"{CLIENT}.elicitation.url"),
    ("$/cancel_request", "both", "notification", None),
]


def test_the_table_is_that_of_the_protocol() -> None:
    """Every method of stable v1, no other, each with its direction, kind and capability."""
    kinds = {True: "notification", False: "request"}
    ours = [(m.name, m.direction, kinds[m.is_notification], m.capability) for m in METHODS.values()]
    assert ours == TABLE
    assert list(METHODS) == [row[0] for row in TABLE]


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_every_method_names_models_that_exist(method: Method) -> None:
    """Params of all, results of requests."""
    assert issubclass(method.params_model(), models.WireModel)
    if not method.is_notification:
        assert issubclass(method.result_model(), models.WireModel)


def test_a_notification_has_no_result() -> None:
    """Asking for its model is a mistake of ours."""
    with pytest.raises(AssertionError, match="session/cancel is a notification"):
        METHODS["session/cancel"].result_model()


def test_requests_are_listed_by_who_serves_them() -> None:
    """Notifications are not among them."""
    for direction, listed in [("to_agent", methods.requests_to_agent()), ("to_client", methods.requests_to_client())]:
        wanted = [name for name, towards, kind, _ in TABLE if (towards, kind) == (direction, "request")]
        assert [method.name for method in listed] == wanted


def test_a_capability_is_a_field_of_the_capability_models() -> None:
    """A path that is misspelt would gate a method for ever."""
    for method in METHODS.values():
        if method.capability is None:
            continue
        root, *path = method.capability.split(".")
        step: Any = getattr(models, root[0].upper() + root[1:])
        for name in path:
            fields = {models.wire_name(field): info for field, info in step.model_fields.items()}
            step = next(t for t in get_args(fields[name].annotation) or [fields[name].annotation] if t is not None)


def test_the_table_can_be_read_without_loading_a_model() -> None:
    """Knowing the names of methods costs next to nothing."""
    program = "import sys, acp_client.protocol.methods\nprint('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "False"
