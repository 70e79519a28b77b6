"""What may be asked for: shape checked when built, frozen afterwards, secrets out of every repr."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from acp_client.policy.permission import Decision, PermissionRequest
from acp_client.protocol.models import McpServerStdio
from acp_client.spec import AgentSpec, Limits

COMMAND = ("agent", "acp")


def spec(**fields: Any) -> AgentSpec:
    """A spec with a command."""
    return AgentSpec(**{"command": COMMAND} | fields)


def limits(**fields: Any) -> Limits:
    """Limits, some of them these."""
    return Limits(**fields)


def refusal(**fields: Any) -> str:
    """What a wrong argument is told."""
    with pytest.raises(ValidationError) as caught:
        spec(**fields)
    return str(caught.value)


def test_a_command_is_argv() -> None:
    """A sequence of strings and paths, each one argument, never split again."""
    assert spec(command=[Path("/bin/agent"), "a b", ""]).command == ("/bin/agent", "a b", "")


COMMANDS: list[tuple[Any, str]] = [
    ("agent acp", "never one shell string"),
    (b"agent", "never one shell string"),
    ((), "at least 1 item"),
    (("",), "must not be empty"),
    (("agent", "a\0b"), "NUL"),
    (("agent", 5), "string"),
    (("agent", None), "string"),
]


@pytest.mark.parametrize(("command", "says"), COMMANDS)
def test_a_wrong_command_names_the_field_and_the_rule(command: Any, says: str) -> None:
    """When it is built."""
    message = refusal(command=command)
    assert "command" in message
    assert says in message


def test_a_relative_directory_is_made_absolute_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later change of the working directory changes nothing; links are not resolved."""
    link = tmp_path / "link"
    (tmp_path / "real").mkdir()
    link.symlink_to("real")
    monkeypatch.chdir(tmp_path)
    built = spec(cwd="link", additional_directories=("real", link))
    monkeypatch.chdir("/")
    assert built.cwd == str(link)
    assert built.additional_directories == (str(tmp_path / "real"), str(link))
    assert spec(cwd="~").cwd == str(Path.home())
    assert spec(cwd=Path("/a/../b")).cwd == "/b"
    assert spec().cwd is None


@pytest.mark.parametrize("cwd", ["", "a\0b", b"/bytes"])
def test_what_is_no_path_is_no_directory(cwd: Any) -> None:
    """Whether it exists is for the run to see."""
    assert "cwd" in refusal(cwd=cwd)
    assert "additional_directories" in refusal(additional_directories=(cwd,))
    assert spec(cwd="/does/not/exist").cwd == "/does/not/exist"


def test_an_additional_directory_must_be_one() -> None:
    """None is no directory here."""
    assert "additional_directories" in refusal(additional_directories=(None,))


ENVIRONMENTS: list[dict[Any, Any]] = [{"": "x"}, {"A=B": "x"}, {"A\0": "x"}, {"A": "x\0"}, {"A": 5}, {5: "x"}]


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_a_variable_that_the_system_cannot_pass_is_refused(env: Any) -> None:
    """None removes one and is fine."""
    assert "env" in refusal(env=env)
    assert spec(env={"A": None, "B": ""}).env == {"A": None, "B": ""}


def test_the_caller_s_environment_is_copied_and_never_shown() -> None:
    """Neither by the repr nor by an error."""
    env = {"KEY": "hunter2"}
    built = spec(env=env)
    env["KEY"] = "changed"
    assert built.env == {"KEY": "hunter2"}
    assert "hunter2" not in repr(built)
    assert "hunter2" not in refusal(env={"KEY": "hunter2\0"})
    assert "hunter2" not in refusal(model=5, env={"KEY": "hunter2"})


def test_the_repr_shows_the_program_as_a_tuple_has_it() -> None:
    """And how many arguments it has, which may be secret."""
    assert repr(spec(command=["echo"])) == "AgentSpec(command=('echo',), cwd=None)"
    assert repr(spec(command=["x", "--key", "k"], name="n")) == "AgentSpec(command=('x', … 2 more), cwd=None, name='n')"


async def decide(request: PermissionRequest) -> Decision:
    """A policy."""
    return Decision.reject(request.kind)


@pytest.mark.parametrize("permission", ["reject", "allow", decide])
def test_a_permission_is_a_preset_or_a_callable(permission: Any) -> None:
    """Rejecting is the default."""
    assert spec(permission=permission).permission == permission
    assert spec().permission == "reject"


@pytest.mark.parametrize("permission", ["yes", "", None, 5, [], True])
def test_any_other_permission_is_refused(permission: Any) -> None:
    """The message says what there is."""
    assert "'reject', 'allow'" in refusal(permission=permission)


SERVER = {"name": "m", "command": "c", "args": [], "env": [{"name": "T", "value": "hunter2"}]}


def test_mcp_servers_are_models_or_dicts() -> None:
    """Their secrets stay out of the repr."""
    built = spec(mcp_servers=[SERVER, McpServerStdio.from_wire(SERVER)])
    assert [server.to_wire() for server in built.mcp_servers] == [SERVER, SERVER]
    assert "hunter2" not in repr(built)


@pytest.mark.parametrize("servers", [SERVER, "server", [{}], [5], [SERVER | {"command": 5}], [{"type": "http"}]])
def test_a_wrong_mcp_server_is_refused(servers: Any) -> None:
    """Without showing what it holds."""
    message = refusal(mcp_servers=servers)
    assert "mcp_servers" in message
    assert "hunter2" not in message


@pytest.mark.parametrize("name", ["model", "mode", "auth_method", "system_prompt", "name"])
@pytest.mark.parametrize("value", ["", 5, b"x"])
def test_a_wish_is_a_string_that_says_something(name: str, value: Any) -> None:
    """None is no wish."""
    assert name in refusal(**{name: value})
    assert getattr(spec(**{name: None}), name) is None


def test_a_misspelt_field_is_refused() -> None:
    """It would be silently ignored otherwise."""
    assert "permissions" in refusal(permissions="allow")
    with pytest.raises(ValidationError, match="run_timeout"):
        Limits(run_timeout=5)  # type: ignore[call-arg]  # what is tested


def test_a_spec_cannot_be_changed() -> None:
    """It may be run any number of times."""
    with pytest.raises(ValidationError):
        spec().cwd = "/"


def test_a_label_is_the_name_or_the_program() -> None:
    """For progress lines."""
    assert spec(name="helper").label == "helper"
    assert spec(command=("/usr/bin/agent", "x")).label == "agent"


TIMEOUTS = ["startup_timeout_seconds", "run_timeout_seconds", "idle_timeout_seconds"]
GRACES = ["cancel_grace_seconds", "eof_grace_seconds", "term_grace_seconds", "kill_wait_seconds"]
SIZES = ["max_frame_bytes", "max_output_bytes", "stderr_tail_bytes", "max_events_buffered"]

DEFAULTS = {
    "startup_timeout_seconds": 60,
    "run_timeout_seconds": 600,
    "idle_timeout_seconds": 120,
    "cancel_grace_seconds": 2,
    "eof_grace_seconds": 3,
    "term_grace_seconds": 2,
    "kill_wait_seconds": 5,
    "late_update_grace_seconds": 0.1,
    "max_frame_bytes": 64 * 2**20,
    "max_output_bytes": 128 * 2**20,
    "stderr_tail_bytes": 64 * 2**10,
    "max_events_buffered": 10_000,
}


def test_the_limits_are_those_that_are_documented() -> None:
    """Every one of them bounds something from the start."""
    assert Limits().model_dump() == DEFAULTS


@pytest.mark.parametrize("name", TIMEOUTS)
def test_a_timeout_can_be_switched_off(name: str) -> None:
    """By None alone."""
    assert getattr(limits(**{name: None}), name) is None


@pytest.mark.parametrize("name", [*GRACES, *SIZES, "late_update_grace_seconds"])
def test_a_grace_or_a_size_cannot_be_switched_off(name: str) -> None:
    """Every wait and every buffer has a bound."""
    with pytest.raises(ValidationError, match=name):
        limits(**{name: None})


BAD_NUMBERS: list[Any] = [0, -1, float("nan"), float("inf"), "5", True]


@pytest.mark.parametrize("name", [*TIMEOUTS, *GRACES, *SIZES])
@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_a_limit_is_a_positive_number(name: str, value: Any) -> None:
    """No word, no truth value, nothing without end."""
    with pytest.raises(ValidationError, match=name):
        limits(**{name: value})


def test_the_late_grace_alone_may_be_zero() -> None:
    """That skips it; a whole number of seconds is as good as a float."""
    assert Limits(late_update_grace_seconds=0).late_update_grace_seconds == 0
    with pytest.raises(ValidationError):
        Limits(late_update_grace_seconds=-0.1)
    assert Limits(run_timeout_seconds=5).run_timeout_seconds == 5
    with pytest.raises(ValidationError):
        Limits(max_frame_bytes=1.5)  # type: ignore[arg-type]  # what is tested


def test_a_path_object_is_as_good_as_a_string() -> None:
    """For the program and for directories."""
    assert spec(command=(Path("x"),), cwd=Path.cwd()).cwd == os.getcwd()  # noqa: PTH109  # what is compared
