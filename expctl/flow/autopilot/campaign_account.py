"""What a campaign has spent, kept on disk: a killed `run --all` goes on with what is left of its budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.queue.night import Night, NightEvent, What
from expctl.domain.text import one_line
from expctl.flow.autopilot.steps import Ended

if TYPE_CHECKING:
    from expctl.flow.autopilot.steps import Step
    from expctl.ports.context import Context
    from expctl.ports.proposers import NightLog

WHY_MAX = 300


@dataclass(slots=True, kw_only=True)
class CampaignAccount:
    """The account of the present campaign. `..._before` is what it had spent when this process took it up; 0 for a new one."""

    context: Context
    log: NightLog | None
    hours_before: float = 0.0
    concluded_before: int = 0
    rejects_before: int = 0
    calls_before: int = 0
    faults_before: int = 0
    why: str = field(default="")

    @staticmethod
    def open(context: Context, log: NightLog | None) -> CampaignAccount:
        """Go on with the campaign that a kill has ended, or begin one."""
        if log is None:
            return CampaignAccount(context=context, log=None)
        night = log.present()
        if night is None:
            log.keep(None)
            log.append(NightEvent(at=context.clock.date(), what=What.BEGAN, head=context.workspace.head()))
            return CampaignAccount(context=context, log=log)
        log.append(NightEvent(at=context.clock.date(), what=What.RESUMED, head=context.workspace.head()))
        verdicts = _verdicts_since(context, night)
        last = next((at for at, each in enumerate(reversed(verdicts)) if each is Verdict.KEEP), len(verdicts))
        return CampaignAccount(
            context=context,
            log=log,
            hours_before=sum(_hours(*stretch) for stretch in night.stretches()),
            concluded_before=sum(each is not Verdict.INVALID for each in verdicts),
            rejects_before=sum(each is Verdict.REJECT for each in verdicts[len(verdicts) - last :]),
            calls_before=night.calls,
            faults_before=night.faults,
        )

    def spent(self, tokens: int, money: float) -> str:
        """Return in words that the calls have cost as much as they may; "" if they haven't. 0 is no limit."""
        night = self.log.present() if self.log is not None and (tokens or money) else None
        if night is None:
            return ""
        if tokens and night.usage.tokens >= tokens:
            return f"the budget of {tokens} tokens is spent ({night.usage.tokens})"
        return (
            f"the budget of {money:g} in money is spent ({night.usage.money:g})" if money and night.usage.money >= money else ""
        )

    def circles(self) -> str:
        """Return in words that the proposer goes in circles; "" if it doesn't."""
        night = self.log.present() if self.log is not None else None
        return night.circles() if night is not None else ""

    def step(self, step: Step) -> None:
        """Note that a step is done: from now on a kill costs no more than what comes after it."""
        if isinstance(step, Ended):
            self.why = step.why
        elif self.log is not None:
            self.log.append(NightEvent(at=self.context.clock.date(), what=What.STEP))

    def close(self) -> None:
        """Note that the campaign has ended: by itself, or because its user stopped it or it could not go on."""
        if self.log is not None:
            why = one_line(self.why, WHY_MAX) or "it was stopped"
            self.log.append(NightEvent(at=self.context.clock.date(), what=What.ENDED, why=why))


def _verdicts_since(context: Context, night: Night) -> list[Verdict]:
    """Return the verdicts of the experiments concluded in a campaign, in their order."""
    found = context.library.digests(context.workspace.head())
    since = [each for each in found if not each.imported and each.date >= night.began.at]
    return [each.verdict for each in sorted(since, key=lambda each: (each.date, id_order(each.id)))]


def _hours(begin: str, end: str) -> float:
    span = datetime.fromisoformat(end) - datetime.fromisoformat(begin)
    return max(0.0, span.total_seconds() / 3600)
