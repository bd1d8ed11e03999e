"""Fills the store of another experiment tracker with entries that have a parameter and a figure each.

    PYTHON benchmarks/scale/peers.py optuna|mlflow|asv|dvc FOLDER COUNT

PYTHON is one that has it. Each entry is made as the tool makes it or, where that takes a tenth of a second, one is and the
others are copies of it in its own store.
"""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

WHO = "peer <peer@example.org>"
BEGIN_S = 1_767_225_600


def optuna(_: Path, count: int) -> None:
    """One study in SQLite, one trial each."""
    from optuna import create_study
    from optuna.distributions import IntDistribution
    from optuna.storages import RDBStorage
    from optuna.trial import create_trial
    from sqlalchemy import event

    storage = RDBStorage("sqlite:///optuna.db")
    event.listen(storage.engine, "connect", lambda connection, _: connection.execute("pragma synchronous = off"))
    storage.engine.dispose()
    study = create_study(study_name="scale", storage=storage)
    known = {"n": IntDistribution(0, count)}
    study.add_trials([create_trial(params={"n": n}, distributions=known, value=n / 1000) for n in range(count)])


def mlflow(folder: Path, count: int) -> None:
    """One experiment in SQLite, one run each."""
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient

    client = MlflowClient("sqlite:///mlflow.db")
    run = client.create_run(client.create_experiment("scale"), run_name="run 0").info.run_id
    client.log_batch(run, metrics=[Metric("gain", 0.5, 0, 0)], params=[Param("n", "1")])
    client.set_terminated(run)
    with sqlite3.connect(folder / "mlflow.db") as store:
        for table in ("runs", "metrics", "latest_metrics", "params", "tags"):
            names = [row[1] for row in store.execute(f"pragma table_info({table})")]
            key = names.index("run_uuid")
            found = store.execute(f"select * from {table} where run_uuid = ?", (run,)).fetchall()  # noqa: S608  ours
            copies = [(*row[:key], f"{n:032x}", *row[key + 1 :]) for row in found for n in range(1, count)]
            store.executemany(f"insert into {table} values ({', '.join('?' * len(names))})", copies)  # noqa: S608


def asv(folder: Path, count: int) -> None:
    """One commit each, with the result of one benchmark."""
    stream = []
    for n in range(count):
        parent = f"from :{n}\n" if n else ""
        stream.append(f"commit refs/heads/main\nmark :{n + 1}\ncommitter {WHO} {BEGIN_S + n} +0000\ndata 0\n{parent}")
        stream.append(f"M 100644 inline kernel\ndata {len(str(n))}\n{n}\n")
    import_history(folder, stream, "--export-marks=marks")
    marks = dict(line.split() for line in (folder / "marks").read_text().splitlines())
    machine = {"machine": "box", "arch": "x86_64", "cpu": "", "num_cpu": "2", "os": "Linux", "ram": "1"}
    benchmark = {"name": "bench.time_kernel", "code": "", "param_names": [], "params": [], "type": "time", "unit": "seconds"}
    settings = {"project": "kernel", "repo": ".", "branches": ["main"], "environment_type": "existing"}
    write(folder / "asv.conf.json", {"version": 1, **settings, "results_dir": "results", "benchmark_dir": "benchmarks"})
    write(folder / "results" / "box" / "machine.json", {**machine, "version": 1})
    write(folder / "results" / "benchmarks.json", {"bench.time_kernel": {**benchmark, "version": "1"}, "version": 2})
    (folder / "benchmarks").mkdir()
    (folder / "benchmarks" / "__init__.py").touch()
    for n in range(count):
        commit, date_ms = marks[f":{n + 1}"], (BEGIN_S + n) * 1000
        result = {
            "commit_hash": commit,
            "env_name": "existing-py3",
            "date": date_ms,
            "params": {**machine, "python": "3"},
            "python": "3",
            "requirements": {},
            "env_vars": {},
            "result_columns": ["result", "params", "version", "started_at", "duration"],
            "results": {"bench.time_kernel": [[n / 1000], [], "1", date_ms, 1.0]},
            "durations": {},
            "version": 2,
        }
        write(folder / "results" / "box" / f"{commit[:8]}-existing-py3.json", result)


def dvc(folder: Path, count: int) -> None:
    """One experiment of the commit that is checked out each, with its parameter and metric."""
    git(folder, "init", "-q", "-b", "main")
    subprocess.run([str(Path(sys.executable).with_name("dvc")), "init", "-q"], cwd=folder, check=True)
    (folder / "params.yaml").write_text("n: 0\n")
    write(folder / "metrics.json", {"gain": 0.0})
    (folder / "dvc.yaml").write_text("stages:\n  run:\n    cmd: echo\n    params: [n]\nmetrics:\n- metrics.json\n")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=peer", "-c", "user.email=peer@example.org", "commit", "-q", "-m", "base")
    head = git(folder, "rev-parse", "HEAD").strip()
    stream = []
    for n in range(count):
        said, parameter, metric = f"dvc: commit experiment {n:064x}\n", f"n: {n}\n", json.dumps({"gain": n / 1000})
        stream.append(f"commit refs/exps/{head[:2]}/{head[2:]}/exp-{n:05}\ncommitter {WHO} {BEGIN_S + n} +0000\n")
        stream.append(f"data {len(said)}\n{said}\nfrom {head}\n")
        stream.append(f"M 100644 inline params.yaml\ndata {len(parameter)}\n{parameter}\n")
        stream.append(f"M 100644 inline metrics.json\ndata {len(metric)}\n{metric}\n")
    import_history(folder, stream)


def import_history(folder: Path, stream: list[str], *options: str) -> None:
    """Commits by fast-import, with packed refs."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    command = ["git", "fast-import", "--quiet", *options]
    subprocess.run(command, cwd=folder, input="".join(stream).encode(), check=True)
    git(folder, "pack-refs", "--all")


def git(folder: Path, *words: str) -> str:
    """What a command of git says."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def write(file: Path, plain: object) -> None:
    """One JSON file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(plain))


FILLS = {"optuna": optuna, "mlflow": mlflow, "asv": asv, "dvc": dvc}

if __name__ == "__main__":
    FILLS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
