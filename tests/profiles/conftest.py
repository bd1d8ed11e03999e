"""Real profiles (tests/profiles/golden/README.md says whose), unpacked, and the command as typed, in this process."""

import gzip
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True, slots=True)
class Shown:
    """How `expctl profile` ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def golden(tmp_path: Path) -> Callable[[str], Path]:
    """Unpacks a golden file, without its `.gz`; names without it are given as they are."""

    def unpack(name: str) -> Path:
        if (GOLDEN / name).exists():
            return GOLDEN / name
        target = tmp_path / name
        target.write_bytes(gzip.decompress((GOLDEN / f"{name}.gz").read_bytes()))
        return target

    return unpack


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """Runs `profile show` behind the same error boundary as the real one."""
    return _command("show", capsys)


@pytest.fixture
def diff(capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """Runs `profile diff`."""
    return _command("diff", capsys)


@pytest.fixture
def bottleneck(capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """Runs `profile bottleneck`."""
    return _command("bottleneck", capsys)


def _command(verb: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # typer imports what click is about to drop
        from expctl.cli.app import application, usage_error

        app, wrong_usage = application(["profile"]), usage_error()
    from expctl.cli.console_errors import guard

    def run(*words: str | Path) -> Shown:
        exits: list[int] = []

        def command() -> None:
            try:
                exits.append(app(["profile", verb, *map(str, words)], standalone_mode=False) or 0)
            except wrong_usage as error:
                raise AssertionError(error.format_message()) from error

        status = guard(command)
        captured = capsys.readouterr()
        return Shown(status or sum(exits), captured.out, captured.err)

    return run
