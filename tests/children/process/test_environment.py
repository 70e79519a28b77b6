"""What a child finds in its environment, seen from inside it: scrubbed, replaced, with a way out."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, RunResult, run_subagent
from tests.support.made_up_secrets import JWT, OPENAI, PEM
from tests.support.scenarios import QUICK, Scripted

PASSWORD = "correct" + "horse9"


async def inside(folder: Path, scenario: dict[str, Any] | None = None, **spec: Any) -> tuple[dict[str, str], RunResult]:
    """The environment that a child found, and the result of its run."""
    child = Scripted(folder, {"facts": str(folder / "facts.json"), **(scenario or {})}, limits=Limits(**QUICK), **spec)
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    found: dict[str, str] = json.loads(child.facts_file.read_text())["env"]
    return found, result


REMOVED = {
    "FOO_TOKEN": "x1",
    "AWS_SECRET_ACCESS_KEY": "x2",
    "DATABASE_URL": f"postgres://u:{PASSWORD}@h/db",
    "SSH_AUTH_SOCK": "/tmp/agent.sock",  # noqa: S108  # a name in an environment
    "ANTHROPIC_CUSTOM_HEADERS": "x-key: x3",
    "AWS_BEARER_TOKEN_BEDROCK": "x4",
    "XAI_APIKEY": "x5",
    "DEPLOY_CREDS": "x6",
    "SMTP_PASS": "x7",
    "openai_api_key": "x8",
    "GitHubToken": "x9",
    "MYSQL_PWD": "x10",
    "SENTRY_DSN": "x11",
    "SLACK_WEBHOOK_URL": "x12",
    "STORAGE_CONNECTION_STRING": "x13",
    "SESSION_COOKIE": "x14",
    "INNOCENT_JWT_HOLDER": JWT,
    "PLAIN_NAME": f"prefix {OPENAI} suffix",
    "DEPLOY_FILE": PEM,
    "MIRROR": f"https://u:{PASSWORD}@mirror/simple",
    "HTTP_PROXY": f"http://u:{PASSWORD}@proxy:3128",
    "CLAUDECODE": "1",
    "npm_lifecycle_event": "start",
    "ACP_SUBAGENTS_FORGED": "1",
}
KEPT = {
    "BYPASS_CACHE": "1",
    "COMPASS_DIR": "/c",
    "PASSENGER_HOST": "h",
    "MONKEY": "m",
    "KEYBOARD_LAYOUT": "de",
    "TOKENIZERS_PARALLELISM": "false",
    "AUTHOR": "a",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000",
    "HTTPS_PROXY": "http://proxy:3128",
    "https_proxy": "http://proxy:3128",
    "NO_PROXY": "localhost,.corp",
    "ALL_PROXY": "socks5://proxy:1080",
    "SSL_CERT_FILE": "/etc/ssl/cert.pem",
    "XDG_CONFIG_HOME": "/x",
    "LC_ALL": "C.UTF-8",
    "OLDPWD": "/",
    "SERVICE_URL": "https://example.org/a?b=c#d",
    "GIT_SSH_COMMAND": "ssh -i id user@host:22/x",
    "EMPTY": "",
    "WITH_NEWLINES": "a\nb=c\n",
    "NOT_ASCII": "é 🎉",
}


def set_all(monkeypatch: pytest.MonkeyPatch, *tables: dict[str, str]) -> None:
    """Put these into our own environment."""
    for table in tables:
        for name, value in table.items():
            monkeypatch.setenv(name, value)


@pytest.mark.row("ENV-1", "ENV-2", "ENV-4", "ENV-5")
async def test_a_child_finds_no_secret_and_all_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caught by name or by value, not caught where it only looks alike; names are told, values nowhere."""
    set_all(monkeypatch, REMOVED, KEPT)
    found, result = await inside(tmp_path)
    assert found.keys() & REMOVED.keys() == set()
    assert {name: found.get(name) for name in KEPT} == KEPT
    told = set(result.diagnostics.removed_env)
    assert told >= REMOVED.keys()
    assert told & KEPT.keys() == set()
    assert PASSWORD not in result.model_dump_json()
    assert OPENAI not in result.model_dump_json()


@pytest.mark.row("ENV-4")
async def test_the_environment_replaces_the_parents_and_is_that_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was set after the spec was built is there, what was deleted is not; `env` sets and removes."""
    monkeypatch.setenv("GOES", "1")
    monkeypatch.setenv("STAYS", "parent")
    monkeypatch.setenv("HIDDEN", "parent")
    child = Scripted(
        tmp_path,
        {"facts": str(tmp_path / "facts.json")},
        limits=Limits(**QUICK),
        env={"HIDDEN": None, "STAYS": "child", "NEW_TOKEN": "given", "NEVER_WAS": None},
    )
    monkeypatch.delenv("GOES")
    monkeypatch.setenv("COMES", "1")
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    found = json.loads(child.facts_file.read_text())["env"]
    assert (found["STAYS"], found["NEW_TOKEN"], found["COMES"]) == ("child", "given", "1")
    assert found.keys() & {"GOES", "HIDDEN", "NEVER_WAS"} == set()
    assert set(result.diagnostics.removed_env) & {"HIDDEN", "NEW_TOKEN", "STAYS"} == set()


@pytest.mark.row("ENV-3")
@pytest.mark.parametrize("pattern", ["XAI_API_KEY", "XAI_*", "*_API_KE?"])
async def test_a_name_can_be_let_through(pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name or glob, for this agent; the others stay out, and so does the run's own mark."""
    monkeypatch.setenv("XAI_API_KEY", "wanted-value-1")
    monkeypatch.setenv("YAI_SECRET", "other")
    monkeypatch.setenv("ACP_SUBAGENTS_RUN", "forged")
    found, result = await inside(
        tmp_path, {"prompt": [{"stderr": "using wanted-value-1"}]}, env_passthrough=(pattern, "ACP_*")
    )
    assert found["XAI_API_KEY"] == "wanted-value-1"
    assert "YAI_SECRET" not in found
    assert "XAI_API_KEY" not in result.diagnostics.removed_env
    assert "wanted-value-1" not in result.diagnostics.stderr_tail


@pytest.mark.row("ENV-3", "AUTH-1")
async def test_a_login_that_fails_says_what_the_scrub_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to let it through."""
    monkeypatch.setenv("XAI_API_KEY", "wanted-value-1")
    scenario = {"auth": {"methods": [{"id": "xai", "name": "xAI"}], "required": True}}
    _, result = await inside(tmp_path, scenario)
    assert result.reason == "auth_required"
    assert result.failure is not None
    assert "XAI_API_KEY" in result.failure.message
    assert "env_passthrough" in result.failure.message
    assert "wanted-value-1" not in result.model_dump_json()


NEEDS_KEY = """
import json, os
refusal = {"error": {"code": -32000, "message": "Authentication required"}}
session = {"result": {"sessionId": "s"}} if os.environ.get("XAI_API_KEY") == "wanted-value-1" else refusal
for outcome in ({"result": {"protocolVersion": 1}}, session, {"result": {"stopReason": "end_turn"}}):
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(input())["id"], **outcome}), flush=True)
"""


@pytest.mark.row("ENV-3")
async def test_an_agent_with_its_key_let_through_logs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same agent, each way out used."""
    monkeypatch.setenv("XAI_API_KEY", "wanted-value-1")
    ways: list[dict[str, Any]] = [{}, {"env_passthrough": ("XAI_API_KEY",)}, {"env": {"XAI_API_KEY": "wanted-value-1"}}]
    reasons = []
    with anyio.fail_after(20):
        for way in ways:
            spec = AgentSpec(command=(sys.executable, "-c", NEEDS_KEY), limits=Limits(**QUICK), **way)
            reasons.append((await run_subagent(spec, "go")).reason)
    assert reasons == ["auth_required", "end_turn", "end_turn"]


PROXIES = {
    "HTTPS_PROXY": "http://proxy:3128",
    "HTTP_PROXY": "proxy.corp:3128",
    "ALL_PROXY": "socks5h://127.0.0.1:9050/",
    "https_proxy": "http://[::1]:3128",
}
PROXIES_WITH_LOGIN = {"ftp_proxy": f"http://me:{PASSWORD}@proxy:3128", "NPM_CONFIG_PROXY": f"me:{PASSWORD}@proxy:3128"}


@pytest.mark.row("ENV-5")
async def test_a_proxy_is_kept_unless_it_holds_a_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it an agent behind one hangs; with a login it is a secret like others, and let through like others."""
    set_all(monkeypatch, PROXIES, PROXIES_WITH_LOGIN)
    found, result = await inside(tmp_path)
    assert {name: found.get(name) for name in PROXIES} == PROXIES
    assert found.keys() & PROXIES_WITH_LOGIN.keys() == set()
    assert set(result.diagnostics.removed_env) >= PROXIES_WITH_LOGIN.keys()
    found, _ = await inside(tmp_path, env_passthrough=("*_proxy", "NPM_CONFIG_*"))
    assert {name: found.get(name) for name in PROXIES_WITH_LOGIN} == PROXIES_WITH_LOGIN
