"""Queue a proposal under the next free id, which somebody else may take meanwhile."""

from collections.abc import Callable, Iterable

from expctl.domain.errors import Refused
from expctl.domain.experiment.ids import next_number
from expctl.domain.experiment.proposal import Proposal
from expctl.flow.queue.same_command import queued_before
from expctl.flow.queue.submit import Proposed, propose
from expctl.ports.context import Context

TRIES = 20


def propose_next(
    context: Callable[[], Context],
    text_of: Callable[[str], bytes],
    proposal_of: Callable[[str, bytes], Proposal],
    patch: bytes | None,
    *,
    experiment: str = "",
    begun: Callable[[], Iterable[str]] = lambda: (),
    by: str = "",
) -> Proposed:
    """Queue a proposal as `experiment` ("": the next free id). `text_of` returns experiment.yaml for an id, `proposal_of` reads
    it; `begun` are ids of runs whose proposal may be gone from HEAD, `by` names a proposer that is no person. What this very
    call has queued before, and nobody has run since, is returned again. Raises Refused.
    """
    for tries_left in reversed(range(TRIES)):
        made = context()
        taken = () if experiment else [*made.library.experiments(made.workspace.head()), *begun()]
        name = experiment or f"P{next_number(taken)}"
        # looked for after the id was chosen: whoever queued the same before that is found, later ones take the id
        before = queued_before(made, text_of, patch, experiment=experiment, by=by)
        if before is not None:
            return before
        text = text_of(name)
        proposal = proposal_of(name, text)
        try:
            return propose(made, proposal, text, patch, by=by)
        except Refused as refusal:
            if experiment or refusal.code != "experiment-exists" or not tries_left:
                raise
    raise AssertionError("the last try returns or raises")
