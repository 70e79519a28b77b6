"""What an import costs: in a clean interpreter, the modules that must not be there are not."""

import ast
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
LIBRARIES = {"jsonschema", "jsonrpcserver", "rich", "click", "yaml", "trio", "mcp"}
HEAVY = LIBRARIES | {"asyncio", "anyio", "pydantic", "pydantic_core", "structlog"}
OPTIONAL = {"mcp", "pydantic_ai", "openai", "anthropic", "liquid", "sqlalchemy", "opentelemetry"}
CONFIGURE = {"configure", "configure_once", "basicConfig", "dictConfig"}
MAY_CONFIGURE = ("acp_agent/logs", "acp_client/cli")


def loaded_by(statement: str) -> set[str]:
    """Names in `sys.modules` after a statement, in an interpreter that did nothing else."""
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    argv = [sys.executable, "-I", "-c", program]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("COV")}  # which loads its own
    printed = subprocess.run(argv, check=True, capture_output=True, text=True, env=bare).stdout
    return set(json.loads(printed.splitlines()[-1]))


def roots(modules: set[str]) -> set[str]:
    """The top-level packages among modules."""
    return {module.partition(".")[0] for module in modules}


def test_import_acp_client_loads_nothing_heavy() -> None:
    """Names are bound when they are used."""
    assert roots(loaded_by("import acp_client")) & (HEAVY | OPTIONAL) == set()


def test_import_acp_agent_loads_nothing_that_a_child_does_not_need() -> None:
    """A child must be able to answer `initialize` at once."""
    assert roots(loaded_by("import acp_agent")) & (HEAVY | OPTIONAL) == set()


@pytest.mark.parametrize("statement", ["import acp_agent", "from acp_agent import delegating, main"])
def test_import_acp_agent_loads_only_the_contract_of_acp_client(statement: str) -> None:
    """The parent's half is no part of a child, not before one delegates."""
    loaded = {name for name in loaded_by(statement) if name.startswith("acp_client.")}
    allowed = ("acp_client.protocol", "acp_client.record.format", "acp_client._version", "acp_client.loop")
    parents = {"acp_client.record"}  # of what is allowed; it holds nothing itself
    assert [name for name in sorted(loaded - parents) if not name.startswith(allowed)] == []


INITIALIZED = """
import anyio, anyio.to_thread, json, sys
from acp_agent.agents import SHIPPED
from acp_agent.server import serve
from acp_client.protocol.streams import memory_pair

async def main():
    threads = anyio.to_thread.current_default_thread_limiter()
    threads.total_tokens = 1
    await threads.acquire_on_behalf_of("this test")  # what is loaded ahead of the next request waits
    ours, theirs = memory_pair()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: serve(SHIPPED["echo"].load(), transport=theirs))
            params = {"protocolVersion": 1, "clientCapabilities": {}}
            request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            ours.send_nowait(memoryview(json.dumps(request).encode() + b"\\n"))
            assert b'"agentInfo"' in await ours.receive()
            loaded.extend(sys.modules)
            threads.release_on_behalf_of("this test")
            ours.close()

loaded = []
anyio.run(main)
sys.modules = dict.fromkeys(loaded)
"""

COMMAND = """
import sys
loaded = []

def on_event(event, arguments):
    if event == "subprocess.Popen" and "the child" in arguments[1]:
        loaded.extend(sys.modules)

sys.addaudithook(on_event)
from acp_client.cli import main
main(["run", "--agent", f"{sys.executable} -c pass 'the child'", "a task"])
sys.modules = dict.fromkeys(loaded)
"""


def test_our_agent_answers_initialize_before_any_model_is_loaded() -> None:
    """Pydantic takes longer to import than all that the answer needs."""
    loaded = loaded_by(INITIALIZED)
    assert "acp_agent.agents.echo" in loaded
    assert roots(loaded) & (LIBRARIES | OPTIONAL | {"pydantic", "structlog"}) == set()
    assert [name for name in loaded if name.startswith("acp_client.protocol.models.")] == []


def test_the_command_starts_its_agent_before_what_only_the_conversation_needs() -> None:
    """Models of answers, forms and approvals are loaded while the agent starts, or never."""
    loaded = loaded_by(COMMAND)
    assert "acp_client.process.spawn" in loaded
    assert roots(loaded) & ((LIBRARIES | OPTIONAL | {"structlog", "sqlite3"}) - {"click"}) == set()
    assert [name for name in loaded if name.startswith(("acp_client.protocol.models.", "acp_client.approvals"))] == []


@pytest.mark.parametrize("package", ["acp_client", "acp_agent"])
def test_every_public_name_can_be_imported(package: str) -> None:
    """`__all__` promises nothing that is not there."""
    program = f"import {package}\nfor name in {package}.__all__: getattr({package}, name)"
    subprocess.run([sys.executable, "-I", "-c", program], check=True)


def configuring_calls() -> dict[str, list[int]]:
    """File → lines that set logging up for the whole process."""
    found: dict[str, list[int]] = {}
    for package in ("acp_client", "acp_agent"):
        for path in sorted((REPO / package).rglob("*.py")):
            lines = [
                node.lineno
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Attribute)
                and node.attr in CONFIGURE
                and isinstance(node.value, ast.Name)
                and node.value.id in {"structlog", "logging", "config"}
            ]
            if lines:
                found[path.relative_to(REPO).as_posix()] = lines
    return found


def test_only_the_two_programs_set_logging_up() -> None:
    """A library that configures logging takes it from the program that uses it."""
    assert {path: lines for path, lines in configuring_calls().items() if not path.startswith(MAY_CONFIGURE)} == {}


@pytest.mark.parametrize("package", ["acp_client", "acp_agent"])
def test_no_public_name_is_also_a_module(package: str) -> None:
    """An import of the module would put it in the place of the name, for whoever imports the name after that."""
    names = importlib.import_module(package).__all__
    assert [name for name in names if importlib.util.find_spec(f"{package}.{name}")] == []
