"""The built-in proposer: score combinations of constants cheaply and propose the best one.

Each combination is built and tested like a candidate, then compared with the baseline in a few rounds, or by one figure of its
build or profile. Combinations that are queued or have a verdict aren't tried again.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from expctl.domain.errors import Interrupted, Refused
from expctl.domain.experiment.ids import next_number
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.patch.sweep import Combination, NotAConstant, combinations, values_in, with_values, words_of
from expctl.domain.protocol.model import Protocol
from expctl.domain.protocol.proposer import Sweep
from expctl.domain.queue.ordering import State
from expctl.flow.autopilot.steps import SweepFinished
from expctl.flow.autopilot.sweep_score import Screen, open_screen, score_of
from expctl.flow.repository.pending import read_queue
from expctl.ports.context import Context
from expctl.ports.proposers import Search


def best_of_sweep(
    context: Context,
    protocol: Protocol,
    sweep: Sweep,
    search: Callable[[Sweep, Sequence[Combination]], Search],
    write: Callable[[Proposal], bytes],
    target: str,
) -> Draft | SweepFinished:
    """Score the combinations of constants that were not tried yet; return the best as a proposal if it beats the baseline.

    `search` orders the combinations, `write` encodes a proposal as experiment.yaml. The score is measured on the target that
    the sweep names, else on `target`, else on the first available one. Returns SweepFinished if nothing is left or better.
    Raises Refused if the constants aren't in the sweep's file, Interrupted on a stop.
    """
    head = context.workspace.head()
    text = _text(context, sweep, head)
    patches = _untried(context, sweep, head, text)
    if not patches:
        return SweepFinished(why="the sweep has tried every combination")
    screen = open_screen(context, protocol, sweep, head, target)
    context.progress.step("sweep", f"{len(patches)} combinations of {sweep.file} on {screen.setup.name}")
    by_words = {words_of(each): commit for each, commit in patches}
    order = search(sweep, [each for each, _ in patches])
    scores: dict[str, float] = {}
    with ExitStack() as machine:
        if not sweep.screen.fact:
            machine.enter_context(screen.setup.tools.gate.measuring(screen.setup.target))
            machine.callback(screen.setup.tools.steps.close)
        while (asked := order.ask()) is not None:
            if context.stop_requested():
                raise Interrupted("the sweep was stopped; the next one scores all combinations again")
            words = words_of(asked)
            score = score_of(screen, by_words[words]) if words in by_words and words not in scores else scores.get(words)
            order.tell(score)
            if score is not None:
                scores[words] = score
    best = max(scores, key=lambda words: scores[words], default="")
    if not best or scores[best] <= 0:
        return SweepFinished(why=f"the sweep found nothing better among {len(patches)} combinations")
    return _draft(context, screen, best, by_words[best], scores, write)


def _text(context: Context, sweep: Sweep, head: str) -> str:
    contents = context.workspace.read_file(head, sweep.file)
    names = tuple(sweep.constants) or tuple(sweep.tuples[0])
    try:
        text = (contents or b"").decode()
        values_in(text, names)
    except (UnicodeDecodeError, NotAConstant) as error:
        raise Refused(
            "the constants of the sweep are not in its file",
            code="sweep-does-not-fit",
            expected=f"{', '.join(names)}, each defined in one line",
            found="no such file" if contents is None else str(error),
            where=f"{sweep.file} at {head[:10]}",
            hint="correct proposer.sweep in protocol.yaml, or the file, and commit",
        ) from error
    return text


def _untried(context: Context, sweep: Sweep, head: str, text: str) -> list[tuple[Combination, str]]:
    """Return (combination, commit that has it) for each combination that changes `text`, the file, and was never proposed."""
    workspace, queue = context.workspace, read_queue(context.library, head)
    queued = [
        workspace.patch_identity(context.library.queued(head, each.id).patch)
        for each in queue.entries()
        if each.state is not State.MALFORMED
    ]
    concluded = (record for record in context.library.records(head) if record.verdict is not Verdict.INVALID)
    known = {record.patch_id for record in concluded} | set(queued)
    found = []
    for each in combinations(sweep):
        changed = with_values(text, each)
        if changed == text:
            continue
        commit = workspace.commit_files(
            parent=head, files={sweep.file: changed.encode()}, message=f"sweep: {words_of(each)}\n", date=context.clock.date()
        )
        if workspace.patch_identity(workspace.difference(head, commit)) not in known:
            found.append((each, commit))
    return found


def _draft(
    context: Context, screen: Screen, best: str, commit: str, scores: dict[str, float], write: Callable[[Proposal], bytes]
) -> Draft:
    taken = context.library.experiments(screen.setup.head)
    how = screen.sweep.screen
    gain = f"{how.fact} less by {scores[best]:g}" if how.fact else f"{100 * scores[best]:+.1f} % in {how.rounds} rounds"
    proposal = Proposal(
        id=f"P{next_number(taken)}",
        title=f"{best} in {screen.sweep.file}",
        kind=Kind.CONFIG,
        hypothesis=f"Best of {len(scores)} combinations in a screen on {screen.setup.name}: {gain}. A screen, not a verdict.",
        prediction=Prediction(verdict=Verdict.KEEP),
    )
    patch = context.workspace.difference(screen.setup.head, commit)
    context.progress.step("sweep", f"{best}: {gain}; proposed as {proposal.id}")
    return Draft(proposal=proposal, text=write(proposal), patch=patch)
