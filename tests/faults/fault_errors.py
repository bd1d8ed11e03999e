"""A full disk, a broken one, one that became read-only, no descriptors left, and short writes, from or at any call."""

import errno

from tests.faults.shim import Act, Calls, PairedBy, Plan
from tests.faults.trial import LATE, FaultClass, Play, Story, Trial

FILES = Calls.WRITE | Calls.NAME | Calls.CREATE
ALL = FILES | Calls.SYNC | Calls.OPEN


def _failing(*plans: Plan) -> Play:
    def play(trial: Trial) -> Story:
        experiment = trial.draw.choice(("P1", "P2"))
        stage, verdict = LATE[experiment]
        story = trial.begin(stage, experiment, verdict)
        story.run(trial.kth(stage, experiment, trial.draw.choice(plans)))
        story.resume()
        return story

    return play


def _fails(number: int, kinds: Calls, *acts: Act, only: str = "", by: PairedBy = PairedBy.ALL) -> tuple[Plan, ...]:
    return tuple(Plan(act=act, number=number, kinds=kinds, only=only, by=by) for act in acts)


FULL = _failing(
    *_fails(errno.ENOSPC, FILES, Act.FAIL_FROM, Act.FAIL_FROM, Act.FAIL_ONCE),
    *_fails(errno.ENOSPC, FILES, Act.FAIL_FROM, only="/journal"),
)
BROKEN = _failing(
    *_fails(errno.EIO, ALL, Act.FAIL_ONCE, Act.FAIL_FROM),
    *_fails(errno.EIO, ALL, Act.FAIL_ONCE, by=PairedBy.CHILDREN),  # a few of all calls are git's
)
READ_ONLY = _failing(*_fails(errno.EROFS, Calls.NAME | Calls.CREATE, Act.FAIL_FROM))
NO_DESCRIPTOR = _failing(*_fails(errno.EMFILE, Calls.OPEN | Calls.CREATE | Calls.PROCESS, Act.FAIL_ONCE, Act.FAIL_FROM))
SHORT = _failing(*_fails(0, Calls.WRITE, Act.SHORT_ONCE, Act.SHORT_FROM))

ERRORS = (
    FaultClass(name="ENOSPC", play=FULL, planted="half a line stays in the journal", share=1.5),
    FaultClass(name="EIO", play=BROKEN, planted="errors of the machine are bugs", share=1.5),
    FaultClass(name="EROFS", play=READ_ONLY, planted="errors of the machine are bugs"),
    FaultClass(name="EMFILE", play=NO_DESCRIPTOR, planted="errors of the machine are bugs"),
    FaultClass(name="short writes", play=SHORT, planted="a short write is taken for a whole one"),
)
