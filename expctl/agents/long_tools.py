"""The tools that take seconds to hours (try, run, profile_diff, check), each the command of that name in its own process.

The server has threads, and what confines a child is only safe in a process without (expctl/launcher/containment.py). And a
run is stopped by signals, which the main thread of a process alone receives: the first lets it end its step, a second aborts.
"""

import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from expctl.adapters.git.reader import Place
from expctl.agents import answers, arguments
from expctl.domain.errors import Refused
from expctl.domain.experiment.ids import check_id
from expctl.domain.text import one_line

OUTPUT_MAX, SAID_MAX = 8 << 20, 1 << 16
CHECK_S = 600.0
BEAT_S = 5.0
STEP_S, ABORT_S = 1.0, 30.0
"""Seconds that a cancelled tool has until it is interrupted again, and then until it is killed."""

ERROR_LINES_MAX = 30


class CommandFailed(Exception):
    """A command ended with an error; the text is what it printed of it."""


Tell = Callable[[str], Awaitable[None]]
"""Reports progress: what the command has just said."""


async def try_patch(place: Place, taken: arguments.TryArguments, tell: Tell) -> answers.TryAnswer:
    """Build and test a patch against HEAD."""
    target = (f"--target={taken.target}",) if taken.target else ()
    said = await _said(place, ("try", "-", *target, "--json"), tell, given=taken.patch.encode())
    return answers.TryAnswer(**{name: said[name] for name in answers.TryAnswer.__struct_fields__})


async def run(place: Place, taken: arguments.RunArguments, tell: Tell) -> answers.RunAnswer:
    """Measure a queued experiment, or return the verdict that it has."""
    target = (f"--target={taken.target}",) if taken.target else ()
    said = await _said(place, ("run", check_id(taken.experiment), *target, "--json"), tell)
    outcome = said["steps"][-1]
    record = outcome["record"]
    return answers.RunAnswer(
        id=record["id"],
        verdict=record["verdict"],
        reasons=list(record.get("reasons", ())),
        branch=outcome["branch"],
        head=outcome["head_after"],
        measured=outcome["measured"],
    )


async def profile_diff(place: Place, taken: arguments.ProfileDiffArguments, tell: Tell) -> answers.ProfileDiffAnswer:
    """Compare two profiles that lie in the repository."""
    before, after = (_inside(place, each, "a profile") for each in (taken.before, taken.after))
    said = await _said(place, ("profile", "diff", "--json", "--", before, after), tell, at_most_s=CHECK_S)
    return answers.ProfileDiffAnswer(**{name: said[name] for name in answers.ProfileDiffAnswer.__struct_fields__})


async def check(place: Place, taken: arguments.CheckArguments, tell: Tell) -> answers.CheckAnswer:
    """Interpret a kernel that lies in the repository. A launch description in Python is refused: it would be run."""
    words = ["check", "--json", f"--orders={taken.orders}"]
    words += [f"--kernel={taken.kernel}"] if taken.kernel else []
    if taken.launch is not None:
        launch = _inside(place, taken.launch, "the launch description")
        if not launch.endswith((".yaml", ".yml")):
            raise Refused(
                "the launch description is no YAML file",
                code="launch-not-yaml",
                expected="a .yaml file: one in Python is run, which only a person's command does",
                found=one_line(taken.launch, 80),
                hint="leave launch out: a description is proposed",
            )
        words.append(f"--launch={launch}")
    said = await _said(place, (*words, "--", _inside(place, taken.file, "the kernel")), tell, at_most_s=CHECK_S)
    return answers.CheckAnswer(
        findings=list(said.get("findings", ())),
        notes=[str(each) for each in said.get("notes", ())],
        launches=int(said.get("launches", 0)),
        kernels=list(said.get("kernels", ())),
        proposal=str(said.get("proposal", "")),
    )


def _inside(place: Place, path: str, what: str) -> str:
    """Return the whole path of a file or folder in the work tree. Raises Refused for one elsewhere, also by a link."""
    root = place.root.resolve()
    try:
        found = (root / path).resolve()
        exists = found.exists()
    except (OSError, ValueError, RuntimeError):
        found, exists = Path("/"), False
    parts = found.relative_to(root).parts if found.is_relative_to(root) else ()
    if not exists or not parts or ".git" in parts:
        raise Refused(
            f"{what} does not lie in the repository",
            code="path-not-inside",
            expected="the path of what exists in the work tree, from its top, and not below .git",
            found=one_line(path, 80),
            hint="git ls-files lists the paths",
        )
    return str(found)


async def _said(
    place: Place, words: tuple[str, ...], tell: Tell, *, given: bytes = b"", at_most_s: float = float("inf")
) -> dict[str, Any]:
    """Run `expctl` with `words` and return the JSON that it prints; `given` is its input, its lines on standard error are told.
    When the caller is cancelled it is stopped. Raises CommandFailed with its error.
    """
    argv = [sys.executable, "-P", "-m", "expctl", *words]  # -P: a file of the repository must not pass for a module
    process = await anyio.open_process(argv, cwd=place.root, start_new_session=True)
    if process.stdout is None or process.stderr is None:
        raise TypeError("a process without pipes")
    said: list[str] = []
    printed = bytearray()
    try:
        with anyio.move_on_after(at_most_s) as clock:
            async with anyio.create_task_group() as group:
                group.start_soon(_feed, process, given)
                group.start_soon(_beat, process, words[0], tell)
                group.start_soon(_listen, process.stderr, said, tell)
                await _collect(process.stdout, printed)
    finally:
        with anyio.CancelScope(shield=True):
            await _stop(process)
            await process.aclose()
    if clock.cancelled_caught:
        raise Refused(
            f"{words[0]} took too long",
            code="tool-timed-out",
            expected=f"an end within {at_most_s:g} s",
            found="none",
            hint="a smaller shape, or fewer orders",
        )
    try:
        facts: dict[str, Any] = json.loads(bytes(printed))
    except ValueError:
        raise _error(words[0], said, process.returncode) from None
    return facts


async def _feed(process: Process, given: bytes) -> None:
    if process.stdin is not None:
        try:
            await process.stdin.send(given)
            await process.stdin.aclose()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # it ended without reading; it says why


async def _beat(process: Process, name: str, tell: Tell) -> None:
    """Tell every few seconds that the command is alive, until it has ended."""
    begun = anyio.current_time()
    while process.returncode is None:
        with anyio.move_on_after(BEAT_S):
            await process.wait()
            return
        await tell(f"{name} is under way, {anyio.current_time() - begun:.0f} s")


async def _listen(stream: ByteReceiveStream, said: list[str], tell: Tell) -> None:
    rest = b""
    async for part in stream:
        *lines, rest = (rest + part).split(b"\n")
        rest = rest[-SAID_MAX:]
        for line in lines:
            text = answers.spelled(line.decode(errors="replace").rstrip())
            del said[:-400]
            said.append(text)
            if text:
                await tell(one_line(text, 300))


async def _collect(stream: ByteReceiveStream, printed: bytearray) -> None:
    async for part in stream:
        if len(printed) <= OUTPUT_MAX:
            printed += part


async def _stop(process: Process) -> None:
    """End the command if it lives: interrupted as by Ctrl-C, interrupted again, killed with all that it started."""
    for wait_s in (STEP_S, ABORT_S):
        if process.returncode is not None:
            return
        process.send_signal(signal.SIGINT)
        with anyio.move_on_after(wait_s):
            await process.wait()
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _error(name: str, said: list[str], status: int | None) -> Exception:
    """Return the error that a command printed last, or that it ended without a word."""
    begin = max((index for index, line in enumerate(said) if line.startswith(("Error [", "Interrupted", "BUG"))), default=None)
    if begin is not None:
        return CommandFailed("\n".join(line[:1000] for line in said[begin : begin + ERROR_LINES_MAX]))
    return Refused(
        f"{name} ended without an answer",
        code="tool-failed",
        expected="facts as JSON",
        found=f"exit status {status}: {one_line(' '.join(said[-3:]), 300) or 'nothing'}",
        hint=f"a person sees more with expctl {name}",
    )
