"""Which script a session's model calls are held against, and where they are logged: the door of this room.

Owns the three modes and the variables that say them. `replay`, the default, needs no model and no key; `record` and
`refresh` ask the model, `record` only where there is no script yet. Every process of a tree reads the same variables,
and finds its own script by its call path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from acp_agent.model.keeping import Keeper
from acp_agent.model.mismatch import DamagedScript, ScriptIsThere, ScriptMismatch
from acp_agent.model.script import Script, file_name, read_script
from acp_agent.model.seam import Model
from acp_agent.model.session import Log, RecordedModel, ReplayedModel, SessionModel

if TYPE_CHECKING:
    from acp_agent.context import Context

SCRIPTS_VARIABLE: Final = "ACP_MODEL_SCRIPTS"
"""The golden folder, with a script for each session."""
LOGS_VARIABLE: Final = "ACP_MODEL_LOGS"
"""The folder in which each session of this run logs its calls, one file each: empty when the run begins."""
MODE_VARIABLE: Final = "ACP_MODEL_MODE"

Mode: TypeAlias = Literal["replay", "record", "refresh"]
MODES: Final = get_args(Mode)

MakeModel: TypeAlias = Callable[[], Model]


class ModelScripts:
    """Gives each session of a process the model that its mode says. One for a process, or for an agent.

    `scripts` is the golden folder, `logs` that of this run's logs; both absolute, since the processes of a tree need
    not share a directory. With neither, models are used as they are. Raises ValueError for what cannot be meant.
    """

    def __init__(self, scripts: Path | None = None, *, logs: Path | None = None, mode: Mode = "replay") -> None:
        self._scripts: Final = _absolute(SCRIPTS_VARIABLE, scripts)
        self._logs: Final = _absolute(LOGS_VARIABLE, logs)
        if mode not in MODES:
            raise ValueError(f"{MODE_VARIABLE} is {mode!r}; it is one of {', '.join(MODES)}")
        if mode != "replay" and logs is None:
            raise ValueError(f"{MODE_VARIABLE}={mode} needs {LOGS_VARIABLE}, an empty folder to record into")
        if mode == "replay" and scripts is None and logs is not None:
            raise ValueError(f"{LOGS_VARIABLE} without {SCRIPTS_VARIABLE}: name the folder to replay, or record")
        self._mode: Final = mode
        self._sessions: dict[str, SessionModel] = {}
        self._model: Model | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> ModelScripts:
        """What the variables of a process say. Raises ValueError, which names the variable."""
        folders = [
            Path(text) if (text := environment.get(name)) else None for name in (SCRIPTS_VARIABLE, LOGS_VARIABLE)
        ]
        mode: Mode = environment.get(MODE_VARIABLE) or "replay"  # type: ignore[assignment]  # checked by the class
        return cls(folders[0], logs=folders[1], mode=mode)

    @contextmanager
    def turn(self, context: Context, make_model: MakeModel) -> Iterator[Model]:
        """The model for one turn: `with scripts.turn(context, MyModel) as model:` in an agent's `prompt`.

        `make_model` is called when a model is needed, once: never in `replay`. Raises a ScriptMismatch, also at the end
        of a turn that went well but made fewer calls than were recorded; let it pass, it is the answer to the prompt.
        """
        if self._scripts is None and self._logs is None:
            yield self._live(make_model)
            return
        session = self._sessions.get(context.session_id)
        if session is None:
            session = self._sessions[context.session_id] = self._open(context, make_model)
        session.begin_turn()
        try:
            yield session
        except Exception:
            if session.failure is not None:
                raise session.failure from None  # bare, also out of the group of a task group
            raise
        session.end_turn()

    def _live(self, make_model: MakeModel) -> Model:
        if self._model is None:
            self._model = make_model()
        return self._model

    def _open(self, context: Context, make_model: MakeModel) -> SessionModel:
        from acp_agent.delegation import secrets_masked  # noqa: PLC0415  # most agents keep nothing

        path, keeper = context.call_path, Keeper(str(context.cwd), secrets_masked())
        log = Log(self._logs, path)
        try:
            script = self._script(path)
        except ScriptMismatch as error:
            log.fail(error)
            raise
        if self._mode == "replay":
            return ReplayedModel(path, keeper, log, script, str(self._scripts))
        return RecordedModel(path, keeper, log, lambda: self._live(make_model))

    def _script(self, call_path: str) -> Script | None:
        if self._scripts is None or self._mode == "refresh":
            return None
        file = self._scripts / file_name(call_path)
        if self._mode == "record":
            if file.exists():
                raise ScriptIsThere(call_path, str(file))
            return None
        return load_script(file, call_path)


def load_script(file: Path, call_path: str | None = None) -> Script | None:
    """The script in a file, None without one. Raises DamagedScript and SwappedScript."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedScript(call_path or file.stem, str(file), 1, f"cannot be read: {error}") from error
    return read_script(text, str(file), call_path)


def _absolute(name: str, folder: Path | None) -> Path | None:
    if folder is not None and not folder.is_absolute():
        raise ValueError(
            f"{name} is {str(folder)!r}; it must be absolute: processes of a tree need not share a directory"
        )
    return folder
