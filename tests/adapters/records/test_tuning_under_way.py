"""How far a tuning is, read from its journal while it runs."""

from pathlib import Path

from expctl.adapters.journal import FileJournal
from expctl.adapters.records.tuning_under_way import tuning_under_way
from expctl.domain.tuning.events import Gated, Screened, Shot
from expctl.domain.tuning.name import TUNE
from expctl.domain.verdict.under_way import UnderWay


def test_buckets_and_rounds_are_counted(tmp_path: Path) -> None:
    assert tuning_under_way(tmp_path) is None
    journal = FileJournal(tmp_path / TUNE, kinds={kind.__name__: kind for kind in (Gated, Screened, Shot)})
    journal.extend("sm_90-rows-0a1b", [Gated(configs=("1,8,2,2,8,2",), dropped={}), Screened(bucket="any", launches=({},))])
    one = UnderWay(id=TUNE, title="buckets screened: 1, rounds of finalists: 0", target="sm_90-rows", since="")
    assert tuning_under_way(tmp_path) == one
    journal.extend("sm_90-rows-0a1b", [Screened(bucket="M_LEQ_1", launches=({},)), Shot(samples={}), Shot(samples={})])
    found = tuning_under_way(tmp_path)
    assert found is not None
    assert found.title == "buckets screened: 2, rounds of finalists: 2"
