"""What the scrub takes out of an environment, and what it leaves in."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.process.environment import (
    FALSE_FRIENDS,
    OTHER_HARNESS_MARKERS,
    PLACES,
    is_secret_name,
    scrub,
    secret_values,
)
from acp_client.process.secret_patterns import holds_secret
from tests.support.made_up_secrets import JWT

# Made up, and put together here, so that no scanner takes this file for a leak.
A, HEX, DIGITS = "Ab3" * 20, "0f" * 32, "1234567890" * 4
PEM = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEow\n-----END " + "RSA PRIVATE KEY-----"
LOGIN = "postgres://" + "app:hunter2" + "@db.internal:5432/app"

PLAIN = "plain-value"


def words(table: str) -> list[str]:
    """The words of a table."""
    return table.split()


REMOVED_BY_NAME = words("""
FOO_TOKEN AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK SSH_AUTH_SOCK
ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_CUSTOM_HEADERS OPENAI_API_KEY XAI_API_KEY GEMINI_API_KEY GH_TOKEN
GITHUB_TOKEN GITHUB_PAT GITLAB_PRIVATE_TOKEN NPM_TOKEN NODE_AUTH_TOKEN CI_JOB_TOKEN DB_PASSWORD PGPASSWORD MYSQL_PWD
REDISCLI_AUTH LDAP_PASSWD GPG_PASSPHRASE DJANGO_SECRET CLIENT_SECRET_FILE GOOGLE_APPLICATION_CREDENTIALS MYAPIKEY
FOO_APIKEY MAIL_APIKEY_2 SSH_PRIVATE_KEY DEPLOY_PRIVATE_KEY_PATH AZURE_STORAGE_CONNECTION_STRING
CUSTOMCONNSTR_CONNECTIONSTRING SIGNING_KEY SIGNING_KEYS KEY KEYS KEY_FILE SMTP_PASS DB_PASS PASS DB_CREDS CREDS_JSON
BASIC_AUTH AUTH SENTRY_DSN DSN SLACK_WEBHOOK SLACK_WEBHOOK_URL SESSION_COOKIE COOKIE MY_JWT BEARER
OTEL_EXPORTER_OTLP_HEADERS EXTRA_HEADERS XDG_SESSION_COOKIE API_KEY1 DB_PASS2 openai_api_key db_password mysql_pwd
Api-Key app.auth.value dbPass myApiKey accessKey authToken github_pat X-Api-Key Authorization
VSCODE_GIT_IPC_AUTH_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL
""")

REMOVED_AS_NESTING = words("""
ACP_SUBAGENTS_DEPTH ACP_SUBAGENTS_RUN CLAUDECODE CLAUDE_CODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CODEX_SANDBOX
CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID GEMINI_CLI QWEN_CODE CURSOR_AGENT CURSOR_TRACE_ID OPENCODE CLINE_ACTIVE
AUGMENT_AGENT GOOSE_TERMINAL AI_AGENT AGENT npm_lifecycle_event npm_package_name npm_config_registry npm_execpath
npm_command
""")

KEPT = words("""
PATH HOME PWD OLDPWD USER LOGNAME SHELL TERM LANG LC_ALL LC_CTYPE LANGUAGE TZ TMPDIR EDITOR DISPLAY HTTP_PROXY
HTTPS_PROXY http_proxy https_proxy NO_PROXY no_proxy ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
REQUESTS_CA_BUNDLE XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_DIRS BYPASS_CACHE COMPASS_DIR PASSENGER_HOST MONKEY
KEYBOARD_LAYOUT TOKENIZERS_PARALLELISM AUTHOR MAX_TOKENS CLAUDE_CODE_MAX_OUTPUT_TOKENS LLM_MAX_TOKENS
MAX_THINKING_TOKENS TIKTOKEN_CACHE_DIR tokenizers_parallelism GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME
KEYTIMEOUT XAUTHORITY GPG_AGENT_INFO KEYMAP HOTKEYS PATTERN PATIENT COMPAT AUTHORS OAUTHLIB_RELAX PASSIVE BYPASS
KEYSTONE_REGION DSNAME COOKIECUTTER_CONFIG HEADERSIZE MONKEYPATCH WEBHOOKS_ENABLED JAVA_HOME VIRTUAL_ENV PYTHONPATH
NPM_CONFIG_REGISTRY CODEX_HOME CLAUDE_CONFIG_DIR CLAUDE_CODE_USE_BEDROCK ANTHROPIC_BASE_URL AWS_REGION AWS_PROFILE
DATABASE_HOST DBUS_SESSION_BUS_ADDRESS LS_COLORS _ SHLVL HOSTNAME PYTHONUNBUFFERED COLUMNS NVM_DIR
""")

SECRET_VALUES = {
    "a database URL with a login": LOGIN,
    "a login without a user": "redis://" + ":hunter2" + "@cache:6379",
    "a login whose user is an e-mail address": "smtp://" + "me@x.org:hunter2" + "@mail",
    "a login with signs in the password": "amqp://" + "u:p@ss/w#rd" + "@mq",
    "a proxy with a login": "http://" + "me:hunter2" + "@proxy:3128",
    "a token alone before the host": "https://" + "a1" * 16 + "@errors.example/1",
    "a login in the middle of JSON": '{"url": "' + LOGIN + '", "pool": 3}',
    "a login in a list": "http://plain.example," + LOGIN,
    "a login in quotes": f'"{LOGIN}"',
    "a PEM private key": PEM,
    "a PEM private key with its line ends escaped": PEM.replace("\n", "\\n"),
    "an encrypted PEM private key": PEM.replace("RSA", "ENCRYPTED"),
    "a PGP private key block": "-----BEGIN " + "PGP PRIVATE KEY BLOCK-----\n\nlQ",
    "a PEM private key after something else": "cert then " + PEM,
    "a JWT": JWT,
    "a JWT in a header": "Bearer " + JWT,
    "a JWT in JSON": '{"t":"' + JWT + '"}',
    "an OpenAI key": "sk-" + A,
    "an OpenAI project key": "sk-" + "proj-" + A,
    "an Anthropic key": "sk-" + "ant-api03-" + A,
    "an Anthropic key after a line end as two characters": r"first\n" + "sk-" + "ant-" + A,
    "a key in single quotes": "'" + "sk-" + A + "'",
    "a key as a query parameter": "https://x.example/?k=" + "sk-" + A + "&z=1",
    "a key percent-encoded into a URL": "https://x.example/?k%3D" + "sk-" + A,
    "a key in colour": "\x1b[1;32m" + "sk-" + A + "\x1b[0m",
    "a GitHub token": "gh" + "p_" + A,
    **{f"a GitHub token of kind {kind}": "gh" + kind + "_" + A for kind in "ous"},
    "a fine-grained GitHub token": "github" + "_pat_" + A,
    "a GitHub token in an option": "--header=" + "gh" + "p_" + A,
    "a GitLab token": "gl" + "pat-" + A,
    **{f"a Slack token of kind {kind}": "xox" + kind + "-" + DIGITS for kind in "bpa"},
    "an AWS key id": "AK" + "IA" + "ABCDEFGHIJ234567",
    "a temporary AWS key id": "AS" + "IA" + "ABCDEFGHIJ234567",
    "a Google API key": "AI" + "za" + A[:35],
    "a Google access token": "ya" + "29." + A,
    "a Hugging Face token": "h" + "f_" + A,
    "an npm token": "np" + "m_" + A,
    "an npm token in an npmrc line": "//registry.example/:_x=" + "np" + "m_" + A,
    "a PyPI token": "py" + "pi-" + A,
    "a SendGrid key": "S" + "G." + A[:22] + "." + A[:43],
    "a Stripe key": "sk" + "_live_" + A,
    "a restricted Stripe key": "rk" + "_live_" + A,
    "a DigitalOcean token": "do" + "p_v1_" + HEX,
    "a Shopify token": "shp" + "at_" + HEX,
    "an xAI key": "xa" + "i-" + A,
    "a Groq key": "gs" + "k_" + A,
}

PLAIN_VALUES = {
    "a URL without a login": "https://proxy.example:3128/path?x=1",
    "a URL with a name only": "ssh://" + "git@github.com/o/r",
    "a URL with a port and an at sign later": "http://host:8080/@scope/pkg@1.2",
    "an IPv6 URL": "http://[::1]:8080/a@b",
    "an scp-like address": "git@github.com:owner/repo.git",
    "an image with a digest": "alpine:3.18@sha256:" + HEX,
    "a public key": "-----BEGIN PUBLIC KEY-----\nMIIB",
    "a certificate": "-----BEGIN CERTIFICATE-----\nMIIB",
    "a word that contains sk-": "task-" + A,
    "words after sk-": "sk-some-long-words-about-it",
    "a name that begins like a token": "hf_transfer_and_other_long_words_in_a_name",
    "a version": "v1.2.3-rc.4+build.5",
    "a digest": HEX,
    "a UUID": "123e4567-e89b-12d3-a456-426614174000",
    "an e-mail address": "me@example.org",
    "a search path": "/usr/local/bin:/usr/bin:/opt/x@2/bin",
    "a colon list": "a:b:c",
    "base64 that is no JWT": "eyJhIjoxfQ==",
    "empty": "",
}


@pytest.mark.parametrize("name", [*REMOVED_BY_NAME, *REMOVED_AS_NESTING])
def test_a_secret_or_nesting_name_is_removed_and_reported(name: str) -> None:
    """A child does not get it, whatever its value, and the name is told."""
    scrubbed = scrub({name: PLAIN})
    assert scrubbed.variables == {}
    assert scrubbed.removed == (name,)


@pytest.mark.parametrize("name", KEPT)
def test_a_plain_name_is_kept_with_its_value(name: str) -> None:
    """What a child needs to run, and false friends, go through untouched."""
    scrubbed = scrub({name: PLAIN})
    assert scrubbed.variables == {name: PLAIN}
    assert scrubbed.removed == ()
    assert scrubbed.secrets == ()


@pytest.mark.parametrize("value", SECRET_VALUES.values(), ids=SECRET_VALUES)
def test_a_secret_value_is_removed_under_a_plain_name(value: str) -> None:
    """The name does not matter where the value gives itself away, also within a longer text."""
    for given_value in (value, f"before {value} after", f'"{value}"'):
        scrubbed = scrub({"SETTING": given_value})
        assert scrubbed.variables == {}
        assert scrubbed.removed == ("SETTING",)
        assert scrubbed.secrets == (given_value,)


@pytest.mark.parametrize("value", PLAIN_VALUES.values(), ids=PLAIN_VALUES)
def test_a_plain_value_is_kept_under_a_plain_name(value: str) -> None:
    """What only reminds of a secret stays."""
    assert scrub({"SETTING": value}).variables == {"SETTING": value}


def test_the_table_has_rows_of_both_kinds() -> None:
    """Enough of them that a family that is forgotten stands out."""
    assert len(REMOVED_BY_NAME) + len(REMOVED_AS_NESTING) + len(SECRET_VALUES) >= 120
    assert len(KEPT) + len(PLAIN_VALUES) >= 100


def test_a_false_friend_with_a_secret_value_is_removed() -> None:
    """The list of false friends is about names; a value still gives itself away."""
    assert scrub({"PASSENGER_HOST": LOGIN}).removed == ("PASSENGER_HOST",)


def test_a_place_is_kept_whatever_it_holds() -> None:
    """A directory that looks like a token must not leave a child without its PATH."""
    path = "/opt/" + "sk-" + A + "/bin"
    assert scrub(dict.fromkeys(PLACES, path)).variables == dict.fromkeys(PLACES, path)


def test_a_proxy_without_a_scheme_is_removed_only_with_a_login() -> None:
    """Proxy variables may leave out `http://`."""
    scrubbed = scrub({"HTTPS_PROXY": "me:hunter2" + "@proxy:3128", "http_proxy": "proxy:3128"})
    assert scrubbed.removed == ("HTTPS_PROXY",)
    assert scrubbed.variables == {"http_proxy": "proxy:3128"}


def test_explicit_values_win_over_the_scrub_and_are_not_reported() -> None:
    """A caller who names a variable gets it, secret or not, and instead of the parent's."""
    scrubbed = scrub({"A_TOKEN": "old", "B": "2"}, explicit={"A_TOKEN": "new", "OPENCODE": "1"})
    assert scrubbed.variables == {"A_TOKEN": "new", "B": "2", "OPENCODE": "1"}
    assert scrubbed.removed == ()


def test_explicit_none_removes_a_name_without_reporting_it() -> None:
    """The caller asked for it, so it is no news; also where the scrub would have removed it."""
    scrubbed = scrub({"HOME": "/h", "A_TOKEN": "x"}, explicit={"HOME": None, "A_TOKEN": None})
    assert scrubbed.variables == {}
    assert scrubbed.removed == ()


def test_passthrough_lets_names_and_globs_through_all_rules() -> None:
    """By name, by value and by nesting marker; other names are scrubbed as ever."""
    parent = {"XAI_API_KEY": "k", "DB_URL": LOGIN, "CLAUDECODE": "1", "GH_TOKEN": "t", "A_KEY": "a"}
    scrubbed = scrub(parent, passthrough=("XAI_*", "DB_URL", "CLAUDE?ODE"))
    assert set(scrubbed.variables) == {"XAI_API_KEY", "DB_URL", "CLAUDECODE"}
    assert scrubbed.removed == ("A_KEY", "GH_TOKEN")  # sorted


def test_passthrough_counts_case() -> None:
    """Names of variables are case-sensitive where children run."""
    assert scrub({"A_TOKEN": "x"}, passthrough=("a_*",)).removed == ("A_TOKEN",)


def test_our_own_markers_are_never_passed_through() -> None:
    """A child's depth and run are for its parent to say, not to be inherited."""
    assert scrub({"ACP_SUBAGENTS_DEPTH": "1"}, passthrough=("*",)).variables == {}


def test_no_value_is_in_the_repr() -> None:
    """A result may be logged; an environment may not."""
    shown = repr(scrub({"A_TOKEN": "hunter22"}, explicit={"B": "explicit-value"}))
    assert "A_TOKEN" in shown
    assert "hunter22" not in shown
    assert "explicit-value" not in shown


def test_secrets_have_what_was_removed_passed_through_and_given() -> None:
    """Whatever the child may print is known to the redaction; nesting markers are no secrets."""
    scrubbed = scrub(
        {"A_TOKEN": "removed-1", "B_TOKEN": "passed-22", "CODEX_SANDBOX": "seatbelt", "C_KEY": ""},
        explicit={"D_TOKEN": "given-333", "E": "plain"},
        passthrough=("B_TOKEN",),
    )
    assert set(scrubbed.secrets) == {"removed-1", "passed-22", "given-333"}


def test_secret_values_are_each_given_once() -> None:
    """Headers and variables of an MCP server may repeat one another."""
    pairs = [("Authorization", "Bearer x"), ("A_TOKEN", "Bearer x"), ("Accept", "text/plain")]
    assert secret_values(pairs) == ("Bearer x",)


def test_a_name_too_long_for_the_cache_is_judged_all_the_same() -> None:
    """A name of any length is a name."""
    assert is_secret_name("X" * 10_000 + "_TOKEN")
    assert not is_secret_name("X" * 10_000)


def test_every_false_friend_is_plain_and_every_marker_has_a_reason() -> None:
    """The two tables say what they are for."""
    assert not any(is_secret_name(friend.replace("*", "X_")) for friend in FALSE_FRIENDS)
    assert all(reason for _marker, reason in OTHER_HARNESS_MARKERS)


HOSTILE_UNITS = (
    *("a", "A", "_", "-", "=", "@", ":", "/", " ", "\n", "://", "://a:b", "://a@", "eyJ", "sk-"),
    *("eyJaaaaaaaa.", "eyJaaaaaaaa-", "sk-a", "SG.", "ghp_", "AKIA", "-----BEGIN ", "0mAIza"),
)


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_the_work_grows_no_faster_than_the_value(unit: str) -> None:
    """Ten times the value takes about ten times as long: no expression backtracks without end."""

    def seconds(chars: int) -> float:
        value = unit * (chars // len(unit))
        times = []
        for _ in range(3):
            begin = time.process_time()
            holds_secret(value)
            times.append(time.process_time() - begin)
        return min(times)

    assert seconds(100_000) <= 30 * max(seconds(10_000), 0.001)  # quadratic would be 100 times


@given(
    st.dictionaries(
        st.one_of(st.sampled_from([*KEPT, *REMOVED_BY_NAME]), st.text()),
        st.one_of(st.text(), st.sampled_from([*SECRET_VALUES.values(), *PLAIN_VALUES.values()])),
    )
)
def test_nothing_secret_is_left_unless_it_was_asked_for(parent: dict[str, str]) -> None:
    """What remains holds no secret value and no secret name; what is gone is reported."""
    scrubbed = scrub(parent)
    for name, value in scrubbed.variables.items():
        assert parent[name] == value
        assert not is_secret_name(name)
        assert name in PLACES or not holds_secret(value)
    assert {*scrubbed.variables, *scrubbed.removed} == set(parent)
    assert scrub(parent, passthrough=("*",)).variables == {
        name: value for name, value in parent.items() if not name.startswith("ACP_SUBAGENTS_")
    }
