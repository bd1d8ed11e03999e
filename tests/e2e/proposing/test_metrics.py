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


@pytest.mark.parametrize(
    ("limits", "reported", "verdict", "reason"),
    [
        ("{may_rise: {size: {percent: 60}}}", '{"size": size}', "KEEP", ""),
        ("{may_rise: {size: {by: 1}}}", '{"size": -size}', "REJECT", "test: the test passed, but size -"),
        ("{may_fall: {size: {by: 1}}}", '{"size": size}', "REJECT", "test: the test passed, but size "),
        ("{may_rise: {size: {by: 1}}}", '{"size": size}', "KEEP", ""),
        (
            "{may_rise: {size: {by: 1}}}",
            '{"size": size} if "sum(" not in kernel else {}',
            "REJECT",
            "test: the test passed, but size was not reported, which is held against the baseline's; nothing was timed",
        ),
        (
            "{may_rise: {size: {by: 1}}}",
            '{"size": size} if "sum(" in kernel else {}',
            "INVALID",
            "test: there is no baseline to hold figures against: its test passed, but size was not reported",
        ),
    ],
)
def test_a_figure_is_held_against_the_baselines_of_the_same_run(
    repository: Foreign, limits: str, reported: str, verdict: str, reason: str
) -> None:
    """FASTER is the shorter source, so its size falls."""
    test = (repository.root / "bench/test.py").read_text()
    test = test.replace("facts={}", f"facts={reported}")
    test = test.replace("total = load(", "kernel = open(sys.argv[1]).read()\nsize = len(kernel)\ntotal = load(")
    repository.write("bench/test.py", test)
    repository.edit_protocol(
        'bench/test.py, "{artifact}"], timeout_s: 30', f'bench/test.py, "{{artifact}}"], timeout_s: 30, metrics: {limits}'
    )
    repository.queue("P1", FASTER)
    repository.expctl("run", "P1")
    record = repository.record("P1")
    assert record["verdict"] == verdict
    assert record["reasons"][0].startswith(reason)
    assert bool(record.get("estimates")) is (verdict == "KEEP")


def test_harness_check_says_that_a_figure_is_missing(repository: Foreign) -> None:
    repository.edit_protocol(
        'bench/test.py, "{artifact}"], timeout_s: 30',
        'bench/test.py, "{artifact}"], timeout_s: 30, metrics: {may_rise: {size: {by: 1}}}',
    )
    answer = repository.expctl("harness", "check")
    assert answer.status != 0
    assert "size was not reported" in answer.err
    assert "the figures that test.metrics holds against the baseline's" in answer.err
