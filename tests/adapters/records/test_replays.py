"""Records of a world of fakes, decided again from their samples."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from expctl.adapters.codec.record_codec import samples_of, with_parts
from expctl.adapters.records.replays import Replays
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Record
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.protocol.model import Protocol
from expctl.domain.verdict.decide_again import UnplayableError, replayed, was_decided_by_samples
from expctl.domain.verdict.samples import Sample
from expctl.flow.run.experiment import run_experiment
from tests.fakes.stage import BENCHMARK, PROTOCOL, Stage


def concluded(kernel: str, **changes: Any) -> tuple[Record, bytes, tuple[Sample, ...]]:
    stage = Stage()
    stage.queue("P1", kernel, **changes)
    record = run_experiment(stage.context(), "P1").record
    files = stage.workspace.commits[stage.workspace.head()].files
    return record, files["experiments/P1/record.json"], samples_of(files["experiments/P1/samples.jsonl"], where="samples")


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "KEEP": ("slow 900000", {}),
    "REJECT": ("slow 1100000", {}),
    "analysis": ("slow 1100000", {"kind": Kind.ANALYSIS}),
    "simplify": ("slow 1001000", {"kind": Kind.SIMPLIFY, "mode": Mode.SIMPLIFY}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_record_is_what_its_samples_say(name: str) -> None:
    kernel, changes = CASES[name]
    record, text, samples = concluded(kernel, **changes)
    assert record.procedure is not None
    again = replayed(record.procedure, record.kind, samples, BENCHMARK, PROTOCOL.keep)
    assert again.rule == VERSION
    assert with_parts(text, again.parts) == text


def test_a_record_that_was_edited_differs() -> None:
    record, text, samples = concluded("slow 1100000")
    forged = json.dumps({**json.loads(text), "verdict": "KEEP"}, indent=1).encode() + b"\n"
    assert record.procedure is not None
    again = replayed(record.procedure, record.kind, samples, BENCHMARK, PROTOCOL.keep)
    assert again.parts["verdict"] is Verdict.REJECT
    assert with_parts(forged, again.parts) == text != forged


def test_samples_that_lack_their_last_round_decide_nothing() -> None:
    record, _, samples = concluded("slow 900000")
    fewer = [sample for sample in samples if sample.round < 8]
    assert record.procedure is not None
    with pytest.raises(UnplayableError, match="1 rounds of the confirm are missing"):
        replayed(record.procedure, record.kind, fewer, BENCHMARK, PROTOCOL.keep)


def test_what_was_not_measured_was_not_decided_by_samples() -> None:
    stage = Stage()
    stage.queue("P1", "slow 1000000 # comment")
    assert not was_decided_by_samples(run_experiment(stage.context(), "P1").record)


class Shelf(GitLibrary):
    """The library of one commit that is a dict of paths, with the fakes' protocol."""

    def __init__(self, files: dict[str, bytes]) -> None:
        class Git:
            def read_file(self, _commit: str, path: str) -> bytes | None:
                return files.get(path)

            def list_files(self, _commit: str, prefix: str) -> dict[str, str]:
                return {path: path for path in files if path.startswith(prefix)}

            def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
                return {path: files[path] for path in blobs}

        super().__init__(Git())  # type: ignore[arg-type]

    def protocol(self, commit: str) -> Protocol:  # noqa: ARG002  the library's signature
        return PROTOCOL


def committed(kernel: str = "slow 1100000") -> dict[str, bytes]:
    stage = Stage()
    stage.queue("P1", kernel)
    run_experiment(stage.context(), "P1")
    files = stage.workspace.commits[stage.workspace.head()].files
    return {path: text for path, text in files.items() if path.startswith("experiments/P1/")}


RECORD, SAMPLES = "experiments/P1/record.json", "experiments/P1/samples.jsonl"


def all_of(files: dict[str, bytes]) -> list[tuple[bool, str]]:
    return [(each.differs, each.text) for each in Replays(Shelf(files), "head").all()]


def test_what_was_committed_replays() -> None:
    ((differs, text),) = all_of(committed())
    assert not differs
    assert "byte for byte" in text


def edited(**changes: Any) -> dict[str, bytes]:
    files = committed("slow 900000")
    record = {**json.loads(files[RECORD]), **changes}
    files[RECORD] = json.dumps({key: value for key, value in record.items() if value is not None}, indent=1).encode() + b"\n"
    return files


def one_more_ns(files: dict[str, bytes]) -> dict[str, bytes]:
    first, rest = files[SAMPLES].split(b"\n", 1)
    line = json.loads(first)
    line["round_ms"] = line.get("round_ms", 0) + 1
    return {**files, SAMPLES: json.dumps(line).encode() + b"\n" + rest}


def with_lines(change: Callable[[list[bytes]], list[bytes]]) -> dict[str, bytes]:
    files = committed()
    return {**files, SAMPLES: b"".join(change(files[SAMPLES].splitlines(keepends=True)))}


def faster_by_hand() -> dict[str, bytes]:
    times = json.loads(committed("slow 900000")[RECORD])["times"]
    times[0]["states"][0]["candidate"]["low_ns"] /= 2
    return edited(times=times)


def test_a_record_from_before_there_were_times_by_state_replays_without() -> None:
    files = edited(times=None)
    assert b'"times": [' not in files[RECORD]
    ((differs, text),) = all_of(files)
    assert (differs, "byte for byte" in text) == (False, True)


TAMPERED: dict[str, Callable[[], dict[str, bytes]]] = {
    "a sample of the search": lambda: one_more_ns(committed()),
    "a line too many": lambda: {
        **(files := committed()),
        SAMPLES: files[SAMPLES] + files[SAMPLES].splitlines(keepends=True)[0],
    },
    "no last line": lambda: with_lines(lambda lines: lines[:-1]),
    "no samples": lambda: {path: text for path, text in committed().items() if path != SAMPLES},
    "times by state that no sample shows": faster_by_hand,
    "garbage": lambda: {**committed(), SAMPLES: b"{\n"},
    "no record": lambda: {path: text for path, text in committed().items() if path != RECORD},
    "a KEEP without what it rests on": lambda: edited(procedure=None, estimates=None, samples_sha256=None),
    "a record without the hash of its samples": lambda: edited(samples_sha256=None),
    "a record of today that hides its procedure": lambda: edited(procedure=None),
    "one that hides the hash of its samples too": lambda: edited(procedure=None, samples_sha256=None),
    "samples that were swapped, and no hash": lambda: {**edited(samples_sha256=None), SAMPLES: committed()[SAMPLES]},
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_found(name: str) -> None:
    ((differs, text),) = all_of(TAMPERED[name]())
    assert differs, text


def free(**changes: Any) -> dict[str, bytes]:
    """A simplification that landed untimed, with an edited record."""
    stage = Stage()
    stage.queue("P1", "slow 1000000 # less", kind=Kind.SIMPLIFY)
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.KEEP
    files = stage.workspace.commits[stage.workspace.head()].files
    record = {**json.loads(files[RECORD]), **changes}
    return {RECORD: json.dumps({key: value for key, value in record.items() if value is not None}, indent=1).encode() + b"\n"}


def test_a_keep_without_estimates_is_sound_where_the_code_is_the_same() -> None:
    assert all_of(free()) == [(False, "KEEP: the same machine code, not decided by samples")]


def differing(**part: str) -> dict[str, Any]:
    sides = json.loads(free()[RECORD])["artifacts"]
    sides["candidate"]["guard"] |= part
    return dict(sides)


FORGED: dict[str, Callable[[], dict[str, bytes]]] = {
    "another kind": lambda: free(kind="perf"),
    "another reason": lambda: free(reasons=["faster"]),
    "other code": lambda: free(artifacts=differing(code="else")),
    "other names": lambda: free(artifacts=differing(image="else")),
    "no artifacts": lambda: free(artifacts=None),
    "no test": lambda: free(test=None),
    "samples beside it": lambda: {**free(), SAMPLES: b""},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_keep_that_only_claims_to_be_free_is_found(name: str) -> None:
    ((differs, text),) = all_of(FORGED[name]())
    assert (differs, text) == (True, "KEEP: a KEEP without estimates")


def with_estimate(record: dict[str, Any]) -> dict[str, Any]:
    first, *others = record["estimates"]
    return {**record, "estimates": [{**first, "effect_percent": 99.5}, *others]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda record: {**record, "verdict": "REJECT"},
            "verdict: recorded 'REJECT', computed 'KEEP' (rule 2 on samples.jsonl)",
        ),
        (with_estimate, "estimates.0.effect_percent: recorded 99.5, computed "),
        (lambda record: {**record, "reasons": [*record["reasons"], "more"]}, "reasons.1: recorded 'more', computed None"),
        (lambda record: record, "every field is the same, only the layout of the JSON differs"),
    ],
    ids=["verdict", "estimate", "one reason more", "layout"],
)
def test_the_first_field_that_differs_is_named_with_both_values(
    change: Callable[[dict[str, Any]], dict[str, Any]], words: str
) -> None:
    files = committed("slow 900000")
    files[RECORD] = json.dumps(change(json.loads(files[RECORD]))).encode() + b"\n"
    ((differs, text),) = all_of(files)
    assert differs
    assert text.partition(": ")[2].startswith(words)


def test_an_imported_origin_does_not_hide_samples() -> None:
    files = edited(origin="imported")
    ((differs, text),) = all_of(files)
    assert differs
    assert "the origin is imported" in text


def test_one_unreadable_file_does_not_hide_the_others() -> None:
    two = {**committed(), "experiments/P2/samples.jsonl": b"garbage"}
    assert [differs for differs, _ in all_of(two)] == [False, True]


def test_a_record_of_an_older_rule_is_named_and_skipped() -> None:
    ((differs, text),) = all_of(edited(procedure=None, samples_sha256=None, schema=None))
    assert not differs
    assert "skipped: decided by an older rule" in text
    files = edited()
    bounds = {**json.loads(files[RECORD])["procedure"], "boundaries": "1"}
    ((differs, text),) = all_of(edited(procedure=bounds))
    assert not differs
    assert "bounds 1, not 2" in text


@pytest.mark.parametrize("bounds", ["99", "x", "-1", ""])
def test_bounds_that_nobody_knows_do_not_hide_a_forged_record(bounds: str) -> None:
    procedure = {**json.loads(edited()[RECORD])["procedure"], "boundaries": bounds}
    ((differs, text),) = all_of(edited(procedure=procedure))
    assert differs
    assert "are unknown" in text


def test_samples_without_a_record_are_told_in_one_sentence() -> None:
    ((_, text),) = all_of(TAMPERED["no record"]())
    assert text == "there are samples and no record"
