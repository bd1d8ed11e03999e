"""What a person allows agents to do beyond a proposal, until when: a file below .git/expctl that no tool writes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from expctl.domain.errors import Misused, Refused
from expctl.domain.text import one_line
from expctl.files import checked_json

GRANTABLE = ("run", "finding_add")
LONGEST = timedelta(days=7)


class Grant(Struct, frozen=True, kw_only=True):
    """A tool that may be used until a moment (UTC)."""

    tool: str
    until: datetime


class Grants:
    """The grants of one repository. Only `expctl agents`, typed by a person, gives or takes one."""

    def __init__(self, state: Path) -> None:
        self.file = state / "grants.json"

    def standing(self, now: datetime) -> dict[str, Grant]:
        """Return tool -> grant of those that hold at `now`. A damaged file grants nothing."""
        try:
            found = checked_json.read(self.file)
            given = {str(tool): datetime.fromisoformat(until).astimezone(UTC) for tool, until in dict(found).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
        held = {tool: until for tool, until in given.items() if tool in GRANTABLE and now < until <= now + LONGEST}
        return {tool: Grant(tool=tool, until=until) for tool, until in held.items()}

    def give(self, tool: str, until: datetime, now: datetime) -> Grant:
        """Allow `tool` until then; an earlier grant of it is replaced. Raises Misused for another tool or time."""
        _check(tool)
        if not now < until <= now + LONGEST:
            raise Misused(
                "a grant ends in the future, and within a week",
                code="grant-until-when",
                expected=f"a time between now and {(now + LONGEST).isoformat(timespec='minutes')}",
                found=until.isoformat(timespec="minutes"),
                hint=f"expctl agents grant {tool} --hours 8",
            )
        self._write({**self.standing(now), tool: Grant(tool=tool, until=until)})
        return Grant(tool=tool, until=until)

    def take(self, tool: str, now: datetime) -> bool:
        """Take a grant back; return whether there was one. Raises Misused for another tool."""
        _check(tool)
        held = self.standing(now)
        self._write({name: each for name, each in held.items() if name != tool})
        return tool in held

    def _write(self, held: dict[str, Grant]) -> None:
        checked_json.write(self.file, {name: each.until.isoformat() for name, each in sorted(held.items())})


def until_of(text: str, hours: float, now: datetime) -> datetime:
    """Return the end of a grant: `text`, a time in the format of ISO 8601 (without a zone: local), else `hours` from now."""
    if not text:
        try:
            return now + timedelta(hours=hours)
        except (OverflowError, ValueError):
            return datetime.max.replace(tzinfo=UTC)
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Misused(
            "--until is not a time",
            code="not-a-deadline",
            expected="a day with a time, such as 2026-02-18T08:00",
            found=one_line(text, 40),
            hint="expctl agents grant run --hours 8",
        ) from error


def not_granted(tool: str) -> Refused:
    """Return the refusal of a tool that a person has not granted."""
    return Refused(
        f"{tool} needs a grant, which only a person gives",
        code="not-granted",
        expected=f"a grant of {tool} that has not ended",
        found="none",
        where=".git/expctl/grants.json",
        hint=f"ask a person to type: expctl agents grant {tool} --hours 8",
    )


def _check(tool: str) -> None:
    if tool not in GRANTABLE:
        raise Misused(
            "there is no such grant",
            code="no-such-grant",
            expected=" or ".join(GRANTABLE),
            found=one_line(tool, 40),
            hint="expctl agents grant run --hours 8",
        )
