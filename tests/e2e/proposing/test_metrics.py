"""A test's own figures have limits: what breaks one is rejected before anything is timed."""

import pytest

from tests.e2e.foreign import FASTER, Foreign


@pytest.mark.parametrize(
    ("limits", "reported", "verdict", "reason"),
    [
        ("{most: {breaks: 0}}", '{"breaks": 0}', "KEEP", ""),
        ("{most: {breaks: 0}}", '{"breaks": n}', "REJECT", "test: the test passed, but breaks 1, at most 0 is allowed"),
        ("{most: {breaks: 0}}", "{}", "REJECT", "test: the test passed, but breaks was not reported, at most 0 is allowed"),
        (
            "{least: {accuracy: 0.9}}",
            '{"accuracy": 0.5}',
            "REJECT",
            "test: the test passed, but accuracy 0.5, at least 0.9 is allowed",
        ),
    ],
)
def test_a_broken_limit_rejects_without_timing(
    repository: Foreign, limits: str, reported: str, verdict: str, reason: str
) -> None:
    test = (repository.root / "bench/test.py").read_text()
    repository.write("bench/test.py", test.replace("facts={}", f"facts={reported}"))
    repository.edit_protocol(
        'bench/test.py, "{artifact}"], timeout_s: 30', f'bench/test.py, "{{artifact}}"], timeout_s: 30, metrics: {limits}'
    )
    repository.queue("P1", FASTER)
    repository.concluded("run", "P1")
    record = repository.record("P1")
    assert record["verdict"] == verdict
    assert record["reasons"][0].startswith(reason)
    assert bool(record.get("estimates")) is (verdict == "KEEP")
