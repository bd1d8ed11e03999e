"""Every verb of the command line leads to a file, has its place in the help, and is completed by a shell."""

import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from expctl.cli.app import VERBS, application, main
from expctl.cli.overview import EXTRAS, GROUPS, NOT_INSTALLED, SENTENCES, overview_lines

EXPCTL = [sys.executable, "-m", "expctl"]


@pytest.mark.filterwarnings("ignore:.*click.*:DeprecationWarning")  # of typer's own imports, with a newer click
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_found_by_its_name(verb: str) -> None:
    found = application((verb,))
    names = {command.name for command in found.registered_commands} | {group.name for group in found.registered_groups}
    assert verb in names


def expctl(*words: str, cwd: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*EXPCTL, *words], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_the_help_names_every_verb_once_with_a_whole_sentence(words: tuple[str, ...]) -> None:
    shown = expctl(*words)
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "..." not in shown.stdout
    for verb in VERBS:
        (line,) = [line for line in lines if line.split()[:1] == [verb]]
        assert line.endswith(f"  {SENTENCES[verb]}")
    assert all(line in lines for line in (*GROUPS, "Options"))


def test_the_help_leaves_out_verbs_and_groups_that_are_absent() -> None:
    text = "\n".join(overview_lines({"run": "", "status": ""}, bool))
    assert "  run " in text
    assert "  show " not in text
    assert "Tools" not in text


def test_the_help_names_the_extras_that_are_absent() -> None:
    lines = overview_lines(VERBS, lambda module: module not in ("elftools", "optuna"))
    begin = lines.index(NOT_INSTALLED)
    assert [line.split("'")[1] for line in lines[begin + 1 :]] == ["expctl[cpu]", "expctl[harness]", "expctl[sweep]"]
    assert max(map(len, lines)) <= 80
    assert NOT_INSTALLED not in overview_lines(VERBS, bool)


def test_the_extras_bring_the_modules_that_are_looked_for() -> None:
    package = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    distribution = {"elftools": "pyelftools"}
    for extra, (modules, _) in EXTRAS.items():
        brought = {re.split("[=<>]", each)[0] for each in package["optional-dependencies"][extra]}
        assert brought == {distribution.get(module, module) for module in modules}


VERB_GROUPS = ("profile", "rules", "finding", "doctor", "suite", "agents", "tune", "fleet")


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb in VERB_GROUPS])
def test_a_groups_help_is_whole_sentences(verb: str) -> None:
    shown = expctl(verb, "--help", COLUMNS="80")
    commands = shown.stdout.partition("Commands:\n")[2].splitlines()
    assert commands
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in (*VERB_GROUPS, "harness")])
def test_the_help_says_what_each_argument_is(verb: str) -> None:
    shown = expctl(verb, "--help", COLUMNS="80").stdout
    arguments = re.findall(r"^Arguments:\n((?:  .*\n)+)", shown, re.M)
    assert bool(arguments) == bool(re.search(r"^Usage: .*\[OPTIONS\] [^\n]", shown))
    assert all(
        re.match(r"  \S+\s+\S+ \S", line) for each in arguments for line in re.findall(r"^  \S.*\n(?:   .*\n)*", each, re.M)
    )


@pytest.mark.parametrize("verb", ["profile", "finding", "agents"])
def test_a_bare_group_prints_its_help(verb: str) -> None:
    bare, asked = expctl(verb), expctl(verb, "--help")
    assert (bare.returncode, bare.stdout, bare.stderr) == (0, asked.stdout, "")


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert expctl("--version").stdout == f"expctl {version('expctl')}\n"


@pytest.mark.parametrize(
    ("words", "message", "following"),
    [
        (("stauts",), "Error [unknown-command]: expctl has no such command", "expctl status --help"),
        (("show",), "Error [usage]: Missing argument 'ID'.", "expctl show --help"),
        (("queue", "--jso"), "Error [usage]: No such option", "expctl queue --help"),
        (("profile", "shw"), "Error [usage]: No such command 'shw'. Did you mean 'show'?\n", "expctl profile --help"),
        (("--frob",), "Error [usage]: No such option", "expctl --help"),
    ],
)
def test_a_wrong_command_line_is_explained(words: tuple[str, ...], message: str, following: str) -> None:
    shown = expctl(*words)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith(message)
    assert shown.stderr.endswith(f"  next      {following}\n")


def completed(line: str, cwd: Path) -> list[str]:
    """What bash offers at the end of `line`."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    return expctl(cwd=cwd, _EXPCTL_COMPLETE="complete_bash", **words).stdout.split()


def test_a_shell_completes_verbs_options_and_ids(tmp_path: Path) -> None:
    for name in ("P1", "P10", "P2", "Q1"):
        (tmp_path / "experiments" / name).mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    below = tmp_path / "src"
    below.mkdir()
    assert completed("expctl st", tmp_path) == ["status"]
    assert completed("expctl profile ", tmp_path) == ["show", "diff", "bottleneck", "decode", "experiment"]
    assert completed("expctl queue --pri", tmp_path) == ["--priority"]
    for verb in ("show", "run", "withdraw", "queue", "replay"):
        assert completed(f"expctl {verb} P", below) == ["P1", "P2", "P10"]
    assert completed("expctl show ", below.parent.parent) == []


def test_a_completion_is_quick(tmp_path: Path) -> None:
    times = []
    for _ in range(5):
        started = time.perf_counter()
        completed("expctl show P", tmp_path)
        times.append(time.perf_counter() - started)
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times[-1] /= time.perf_counter() - started
    assert min(times) < 15, "times of an interpreter that does nothing"


def test_the_completion_script_asks_this_program() -> None:
    shown = expctl("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (shown.returncode, "_EXPCTL_COMPLETE=complete_bash" in shown.stdout) == (0, True)


@pytest.mark.parametrize("words", [("rules", "check", "x.patch"), ("rules", "check", "x.patch", "--json"), ("status",)])
def test_what_is_asked_all_day_needs_no_typer(words: tuple[str, ...]) -> None:
    asks = f"import sys, expctl.cli.app as app; print(app.command_without_typer({words}) and 'typer' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True).stdout == "True\n"


@pytest.mark.parametrize("more", [(), ("--precondition", "new")])
def test_a_refused_patch_ends_with_1_with_and_without_typer(monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]) -> None:
    monkeypatch.setattr("expctl.cli.rules_check._refuses", lambda *_, **__: True)
    monkeypatch.setattr(sys, "argv", ["expctl", "rules", "check", "x.patch", "--json", *more])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
