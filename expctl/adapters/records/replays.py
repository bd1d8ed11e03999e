"""Replay committed records: compute verdicts again from the samples and protocol in git, and compare them with the records."""

import hashlib
import json

from expctl.adapters.codec.record_codec import samples_of, with_parts
from expctl.adapters.records.blind_replays import BlindReplays
from expctl.adapters.records.replay_outcome import Outcome, first_difference, mend_of
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.errors import Refused
from expctl.domain.experiment.free_change import is_free_keep
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Origin, Record, Replication
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.protocol.model import Benchmark, KeepRule
from expctl.domain.tuning.benchmark import with_shapes
from expctl.domain.tuning.verdicts import again
from expctl.domain.verdict.decide_again import UnplayableError, older_rule, replayed, was_decided_by_samples
from expctl.domain.verdict.samples import MalformedRound

CONTESTS, DRIFT = "contests.jsonl", "drift.jsonl"


class Replays:
    """Recomputes the verdicts of one commit's records from their committed samples, and compares them with the records."""

    def __init__(self, library: GitLibrary, commit: str) -> None:
        self._library, self._commit = library, commit

    def all(self) -> tuple[Outcome, ...]:
        """Recompute the verdict of every measured record, its replications and every blind slot. Samples without a record, or
        with an imported one, are returned as an outcome that differs.
        """
        records = {record.id: record for record in self._library.records(self._commit)}
        sampled = self._library.sampled(self._commit)
        outcomes: list[Outcome] = []
        for name in sorted({*records, *sampled}, key=id_order):
            record = records.get(name)
            if record is not None and record.origin is Origin.MEASURED:
                outcomes += self._of(record)
            elif name in sampled:
                what = (
                    "there are samples and no record"
                    if record is None
                    else f"there are samples, but the origin is {record.origin}"
                )
                outcomes.append(Outcome(id=name, number=0, rule="", differs=True, text=what))
        return (*outcomes, *BlindReplays(self._library, self._commit).all())

    def of(self, experiment: str) -> tuple[Outcome, ...]:
        """Recompute the verdicts of one record and its replications. Raises Refused if it doesn't exist or was imported."""
        record = self._library.record(self._commit, experiment)
        if record is None or record.origin is Origin.IMPORTED:
            raise Refused(
                f"{experiment} has no samples to replay",
                code="no-samples-to-replay",
                expected="an experiment that was measured here",
                found="it was imported" if record else "no record",
                hint="expctl replay --all decides every measured record again",
            )
        return self._of(record)

    def _of(self, record: Record) -> tuple[Outcome, ...]:
        return tuple(self._outcome(record, number) for number in range(1 + len(record.replications)))

    def _outcome(self, record: Record, number: int) -> Outcome:
        entry: Record | Replication = record.replications[number - 1] if number else record
        mend = ""
        try:
            rule, differs, text = self._compare(record, entry, number)
        except (UnplayableError, MalformedRound) as error:
            rule, differs, text = "", True, str(error)
        except Refused as refusal:  # samples or a protocol that can't be read
            rule, differs, text = "", True, f"{refusal.message}: {refusal.found}"
            mend = mend_of(refusal)
        where = f"{entry.verdict}: replication {number}: " if number else f"{entry.verdict}: "
        return Outcome(id=record.id, number=number, rule=rule, differs=differs, text=f"{where}{text}", mend=mend)

    def _wrong_drift(self, record: Record, benchmark: Benchmark, keep: KeepRule) -> str:
        """Return a sentence if the drift of a record says something else than its samples; "" if it has none or they agree."""
        drift = record.drift
        if drift is None:
            return ""
        raw = self._library.samples(self._commit, record.id, DRIFT) or b""
        if hashlib.sha256(raw).hexdigest() != drift.samples_sha256 or drift.procedure is None:
            return f"{DRIFT} has another SHA-256 than the record says"
        samples = samples_of(raw, where=f"experiments/{record.id}/{DRIFT}")
        parts = replayed(drift.procedure, record.kind, samples, benchmark, keep).parts
        wrong = [key for key, value in parts.items() if key != "times" and getattr(drift, key) != value]
        return f"{wrong[0]} of the drift: {DRIFT} says something else" if wrong else ""

    def _wrong_bucket(self, record: Record, benchmark: Benchmark, keep: KeepRule) -> str:
        """Return a sentence about the first bucket of a tuning whose samples say something else; "" if all agree."""
        raw = self._library.samples(self._commit, record.id, CONTESTS) or b""
        if hashlib.sha256(raw).hexdigest() != record.contests_sha256:
            return f"{CONTESTS} has another SHA-256 than the record says"
        samples = samples_of(raw, where=f"experiments/{record.id}/{CONTESTS}")
        for each in record.buckets:
            if each.config and again(each, samples, benchmark, keep) != each:
                return f"{each.file} {each.bucket}, {each.config}: {CONTESTS} says something else"
        return ""

    def _compare_contests(self, record: Record) -> tuple[str, bool, str]:
        """Compare the buckets of a tuning that proposed no table, so that nothing but its contests was decided by samples."""
        protocol = self._library.protocol(record.base)
        target = protocol.targets.get(record.target)
        if target is None or target.benchmark is None:
            return "", True, f"the benchmark of {record.target} is missing"
        wrong = self._wrong_bucket(record, target.benchmark, protocol.keep)
        count = sum(bool(each.config) for each in record.buckets)
        return "", bool(wrong), wrong or f"no table was proposed; contests by {CONTESTS}: {count}"

    def _compare(self, record: Record, entry: Record | Replication, number: int) -> tuple[str, bool, str]:
        file = f"samples{f'-{number + 1}' if number else ''}.jsonl"
        raw = self._library.samples(self._commit, record.id, file)
        if entry.samples_sha256 and hashlib.sha256(raw or b"").hexdigest() != entry.samples_sha256:
            return "", True, f"{file} has another SHA-256 than the record says"
        if not was_decided_by_samples(entry):
            if any(each.config for each in record.buckets):
                return self._compare_contests(record)
            if raw is None and is_free_keep(record, entry):
                return "", False, "the same machine code, not decided by samples"
            if entry.verdict is Verdict.KEEP:
                return "", True, "a KEEP without estimates"
            return "", False, "not decided by samples"
        older = older_rule(entry.procedure)
        if older or entry.procedure is None:
            hidden = entry.procedure is None and (record.schema > 1 or bool(entry.samples_sha256))  # no older rule wrote these
            return "", hidden, f"skipped: decided by an older rule ({older})" if not hidden else "the procedure is missing"
        if entry.procedure.boundaries != VERSION:
            return "", True, f"bounds {entry.procedure.boundaries} are unknown: this expctl has {VERSION}; update expctl"
        if not entry.samples_sha256:
            return "", True, f"the record does not hold the hash of {file}"
        protocol = self._library.protocol(record.base)
        target = protocol.targets.get(entry.target)
        if raw is None or target is None or target.benchmark is None:
            return "", True, f"{file} or the benchmark of {entry.target} is missing"
        samples = samples_of(raw, where=f"experiments/{record.id}/{file}")
        benchmark = target.benchmark
        if wrong := self._wrong_drift(record, benchmark, protocol.keep):
            return "", True, wrong
        if record.buckets:
            if wrong := self._wrong_bucket(record, benchmark, protocol.keep):
                return "", True, wrong
            benchmark = with_shapes(benchmark, list(dict.fromkeys(each.size for each in samples)))
        replay = replayed(entry.procedure, record.kind, samples, benchmark, protocol.keep)
        text = self._library.record_text(self._commit, record.id)
        parts = {key: value for key, value in replay.parts.items() if key != "times" or entry.times}  # older records have none
        computed = with_parts(text, parts, replication=number)
        if computed == text:
            return replay.rule, False, f"byte for byte, rule {replay.rule}, {len(samples)} samples"
        return replay.rule, True, f"{first_difference(json.loads(text), json.loads(computed))} (rule {replay.rule} on {file})"
