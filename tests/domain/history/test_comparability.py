"""Conditions of measurements as the ledger writes them."""

from expctl.domain.history.comparability import Change, few_sizes


def test_a_long_list_of_sizes_is_shown_by_its_ends() -> None:
    kpi = ", ".join(f"{m}x8x8 (0.1)" for m in range(1, 11)) + "; fine, 20 quads of 1; command 1f2e3d4c"
    shown = "10 sizes from 1x8x8 (0.1) to 10x8x8 (0.1); fine, 20 quads of 1; command 1f2e3d4c"
    assert few_sizes(kpi) == shown
    assert few_sizes("n=512 (0.6), n=384 (0.4); fine") == "n=512 (0.6), n=384 (0.4); fine"
    assert str(Change(what="KPI", before="n=512 (1)", after=kpi)) == f"KPI n=512 (1) -> {shown}"
    assert str(Change(what="machine", before=kpi, after=kpi)) == f"machine {kpi} -> {kpi}"
