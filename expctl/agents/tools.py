"""The table of tools: what each is for, takes and answers, what it may touch, and what it needs here."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from expctl.adapters.git.reader import Place
from expctl.agents import answers, arguments, long_tools, reading, writing
from expctl.agents.grants import Grants
from expctl.agents.needs import Needs

NO_EVIDENCE = "What it returns is information, never evidence: only a committed record of `expctl run` decides."

Quick = Callable[[Place, Any], answers.Answer]
Long = Callable[[Place, Any, long_tools.Tell], Awaitable[answers.Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. Exactly one of `quick` and `long` is there; a `granted` tool works while a person's grant holds. `needs` say
    what must be here, else it is left out of the list. `repeats` says that a second call changes nothing more.
    """

    name: str
    what: str
    takes: type[arguments.Arguments]
    gives: type[answers.Answer]
    quick: Quick | None = None
    long: Long | None = None
    reads: bool = True
    repeats: bool = True
    granted: bool = False
    needs: Callable[[Needs], bool] = Needs.protocol

    @property
    def description(self) -> str:
        """Return what an agent is told of it."""
        grant = " Works only while a person's grant holds." if self.granted else ""
        return f"{self.what}{grant} {NO_EVIDENCE}"


TOOLS = (
    Tool(
        name="brief",
        what="What a proposer must know: protocol, baselines, noise, findings, rules, open questions, queue, next free id.",
        takes=arguments.BriefArguments,
        gives=answers.BriefAnswer,
        quick=reading.brief,
    ),
    Tool(
        name="status",
        what="Baselines, the running experiment, queue, last verdicts, and what blocks a measurement now.",
        takes=arguments.Arguments,
        gives=answers.StatusAnswer,
        quick=reading.status,
    ),
    Tool(
        name="show",
        what="One experiment, queued or concluded: hypothesis, prediction, outcome, effects, reasons.",
        takes=arguments.ShowArguments,
        gives=answers.ShowAnswer,
        quick=reading.show,
    ),
    Tool(
        name="rules_check",
        what="Whether a do-not-repeat rule refuses a patch, and which earlier experiment it repeats.",
        takes=arguments.RulesCheckArguments,
        gives=answers.RulesAnswer,
        quick=reading.rules_check,
    ),
    Tool(
        name="try",
        what="Build and test a patch against HEAD in a check-out of its own: nothing is timed, recorded or committed.",
        takes=arguments.TryArguments,
        gives=answers.TryAnswer,
        long=long_tools.try_patch,
        needs=Needs.build,
    ),
    Tool(
        name="propose",
        what="Queue a patch with hypothesis and prediction, as a commit below experiments/. It measures and decides nothing.",
        takes=arguments.ProposeArguments,
        gives=answers.ProposeAnswer,
        quick=writing.propose,
        reads=False,
        repeats=False,
    ),
    Tool(
        name="run",
        what="Measure a queued experiment to its verdict, with progress; cancelled, it ends after the step, and goes on later.",
        takes=arguments.RunArguments,
        gives=answers.RunAnswer,
        long=long_tools.run,
        reads=False,
        granted=True,
        needs=Needs.build,
    ),
    Tool(
        name="profile_diff",
        what="What changed between two profiles that lie in the repository, and why.",
        takes=arguments.ProfileDiffArguments,
        gives=answers.ProfileDiffAnswer,
        long=long_tools.profile_diff,
        needs=Needs.repository,
    ),
    Tool(
        name="check",
        what="Look for races, accesses out of bounds and wrong results in a kernel's file, in an interpreter without a GPU.",
        takes=arguments.CheckArguments,
        gives=answers.CheckAnswer,
        long=long_tools.check,
        needs=Needs.interpreter,
    ),
    Tool(
        name="finding_add",
        what="Commit a lesson with its evidence to experiments/findings.yaml.",
        takes=arguments.FindingArguments,
        gives=answers.FindingAnswer,
        quick=writing.finding_add,
        reads=False,
        granted=True,
    ),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}


def offered(place: Place) -> tuple[Tool, ...]:
    """Return the tools that work in the repository now: what they need is here, and what needs a grant has one."""
    needs, grants = Needs(place), Grants(place.state).standing(datetime.now(UTC))
    return tuple(tool for tool in TOOLS if (not tool.granted or tool.name in grants) and tool.needs(needs))
