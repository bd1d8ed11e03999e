"""Replay blind slots: decide each again from its committed samples, and compare with its line in experiments/blind.jsonl."""

import hashlib
import json
from collections import Counter

from msgspec.structs import replace

from expctl.adapters.codec.record_codec import blind_bytes, samples_of
from expctl.adapters.records.replay_outcome import Outcome, first_difference, mend_of
from expctl.adapters.records.repository_contents import BLIND, GitLibrary
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind
from expctl.domain.history.blind import FOLDER, BlindSlot, Truth
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.verdict.decide_again import UnplayableError, older_rule, replayed
from expctl.domain.verdict.samples import MalformedRound

DECIDED = ("verdict", "reasons", "estimates", "procedure")  # what a slot has of a verdict


class BlindReplays:
    """Recomputes the verdicts of one commit's blind slots from their committed samples, and compares them with the file."""

    def __init__(self, library: GitLibrary, commit: str) -> None:
        self._library, self._commit = library, commit

    def all(self) -> tuple[Outcome, ...]:
        """Replay every blind slot. A file of samples that belongs to no slot, or to two, counts as different."""
        try:
            slots = self._library.blind_slots(self._commit)
        except Refused as refusal:
            return (_unread("blind", refusal),)
        *lines, _ = self._library.blind_text(self._commit).split(b"\n")
        found = [
            self._outcome(number, slot, line) for number, (slot, line) in enumerate(zip(slots, lines, strict=True), start=1)
        ]
        named = Counter(slot.evidence for slot in slots)
        found += [
            _differs("blind", f"{name} belongs to {count} lines of {BLIND}") for name, count in named.items() if count > 1
        ]
        left = self._library.files_below(self._commit, FOLDER) - named.keys()
        return (*found, *(_differs("blind", f"{name} belongs to no line of {BLIND}") for name in sorted(left)))

    def _outcome(self, number: int, slot: BlindSlot, line: bytes) -> Outcome:
        name = f"blind {number}"
        older = older_rule(slot.procedure)
        if older:
            return Outcome(id=name, number=0, rule="", differs=False, text=f"skipped: decided by an older rule ({older})")
        try:
            difference = self._difference(slot, line)
        except (UnplayableError, MalformedRound) as error:
            difference = str(error)
        except Refused as refusal:  # samples or a protocol that can't be read
            return _unread(name, refusal, f"{slot.verdict}: ")
        if difference:
            return _differs(name, f"{slot.verdict}: {difference}")
        text = f"{slot.verdict}: {slot.truth}, byte for byte, rule {VERSION}"
        return Outcome(id=name, number=0, rule=VERSION, differs=False, text=text)

    def _difference(self, slot: BlindSlot, line: bytes) -> str:
        if (len(set(slot.artifacts)) == 1) is not (slot.truth is Truth.NULL):
            return f"the truth is {slot.truth}, but the builds are {'equal' if len(set(slot.artifacts)) == 1 else 'not equal'}"
        raw = self._library.file(self._commit, slot.evidence)
        if hashlib.sha256(raw).hexdigest() != slot.samples_sha256:
            return f"{slot.evidence} has another SHA-256 than the line says"
        if slot.procedure.boundaries != VERSION:
            return f"bounds {slot.procedure.boundaries} are unknown: this expctl has {VERSION}; update expctl"
        protocol = self._library.protocol(slot.head)
        target = protocol.targets.get(slot.target)
        if target is None or target.benchmark is None:
            return f"the benchmark of {slot.target} is missing"
        samples = samples_of(raw, where=slot.evidence)
        again = replayed(slot.procedure, Kind.PERF, samples, target.benchmark, protocol.keep)
        computed = blind_bytes(replace(slot, **{part: again.parts[part] for part in DECIDED}))
        return "" if computed == line + b"\n" else first_difference(json.loads(line), json.loads(computed))


def _differs(name: str, text: str, *, mend: str = "") -> Outcome:
    return Outcome(id=name, number=0, rule="", differs=True, text=text, mend=mend)


def _unread(name: str, refusal: Refused, verdict: str = "") -> Outcome:
    return _differs(name, f"{verdict}{refusal.message}: {refusal.found}", mend=mend_of(refusal))
