"""Construct the concrete classes behind the interfaces in ports/. Modules are imported in functions, to keep `--help` quick."""

import contextlib
import functools
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from expctl.adapters.git.known_objects import KnownObjects
from expctl.adapters.git.reader import GitReader, Place, locate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from expctl.adapters.index.record_index import RecordIndex
    from expctl.adapters.machine.gate import MachineGate
    from expctl.adapters.machine.own_cards import OwnCards
    from expctl.adapters.machine.waiter import Waiter
    from expctl.adapters.notifier import Notifier
    from expctl.adapters.records.calibrations import FileCalibrations
    from expctl.adapters.records.findings_file import FindingsEditor
    from expctl.adapters.records.hot_loop_file import HotLoopStore
    from expctl.adapters.records.night_file import NightFile
    from expctl.adapters.records.plots import Pictures
    from expctl.adapters.records.repository_contents import GitLibrary
    from expctl.adapters.rules.compiled_versions import CompiledVersions
    from expctl.adapters.rules.lookup import RuleLookup
    from expctl.domain.brief.about import About
    from expctl.domain.checkup import Finding
    from expctl.domain.experiment.hot_loop import HotLoop
    from expctl.domain.experiment.proposal import Probe
    from expctl.domain.machine.waiting import Wait
    from expctl.domain.machine.walls import Walls
    from expctl.domain.protocol.model import Environment, Gate, Protocol, Toolchain
    from expctl.domain.rules.current_facts import ProbeAnswer
    from expctl.flow.autopilot.steps import NothingProposed, SweepFinished
    from expctl.flow.harness_check import Checked
    from expctl.flow.live import Live
    from expctl.flow.measuring.hot_loops import LoopCounter, Uncounted
    from expctl.flow.measuring.profile_experiment import ProfiledExperiment
    from expctl.flow.queue.submit import Proposed
    from expctl.flow.status import GateNow, Running
    from expctl.flow.tuning.tune import TuneTools
    from expctl.launcher.capabilities import Capabilities
    from expctl.ports.context import Context, Tools
    from expctl.ports.measuring import Progress, Recipe
    from expctl.suite.cases import SuiteCase
    from expctl.suite.measure import CaseTimes
    from expctl.suite.model import Suite


def here() -> Place:
    """Return the location of the git repository that contains the working directory. Raises Refused without either."""
    from expctl.domain.errors import Refused

    try:
        return locate(Path.cwd())
    except FileNotFoundError as error:
        raise Refused(
            "the working folder was removed",
            code="working-folder-gone",
            expected="a working folder that is there",
            found="none",
            hint="cd to the repository, and type the same command again",
        ) from error


def reader(place: Place) -> GitReader:
    """Return a reader of the files in a repository's commits."""
    return GitReader(place, _known(place.state.parent))


@functools.lru_cache(maxsize=4)
def _known(git: Path) -> KnownObjects:  # noqa: ARG001  one for each repository
    return KnownObjects()


def options_patch(
    place: Place, variables: "Sequence[str]", arguments: "Sequence[str] | None", interpreter: str | None
) -> tuple[bytes, str]:
    """Return the patch that sets options on HEAD, and what it does in words. Raises Refused."""
    from expctl.adapters.records.options_patch import Wanted, options_patch

    git = reader(place)
    wanted = Wanted(variables=variables, arguments=arguments, interpreter=interpreter)
    return options_patch(git, library(git).protocol(place.head), place.head, wanted), wanted.title


def library(git: GitReader) -> "GitLibrary":
    """Return a reader of the protocol, proposals, findings and records in a repository's commits."""
    from expctl.adapters.records.repository_contents import GitLibrary

    return GitLibrary(git, index(git))


def library_of_git_alone(git: GitReader) -> "GitLibrary":
    """Return such a reader for what checks: it reads every record from git, and believes no cache."""
    from expctl.adapters.records.repository_contents import GitLibrary

    return GitLibrary(git)


def index(git: GitReader) -> "RecordIndex":
    """Return the index of committed records, a SQLite file by which many records are read quickly."""
    from expctl.adapters.index.record_index import RecordIndex

    return RecordIndex(git, git.place.state / "records.sqlite", told=lambda words: print(words, file=sys.stderr))


def pictures(place: Place, git: GitReader) -> "Pictures":
    """Return the source of data for plots: records at HEAD, and runs under way."""
    from expctl.adapters.records.durations import FileDurations
    from expctl.adapters.records.plots import Pictures

    durations = FileDurations(place.state / "durations.json")
    return Pictures(library(git), git.head(), place.state / "journal", lambda target: durations.read(target, "profile"))


def rulebook(place: Place, git: GitReader, assumed: "Mapping[str, str] | None" = None, *, tries: bool = True) -> "RuleLookup":
    """Return an object that looks up do-not-repeat rules. `assumed` (name -> value) replaces facts about this machine on which
    rules depend. Probes that have no stored answer are tried only if `tries` is true.
    """
    from expctl.adapters.rules.kept_answers import KeptAnswers
    from expctl.adapters.rules.lookup import RuleLookup

    return RuleLookup(
        git,
        index(git),
        tool=_version,
        probe=partial(_probe, place, tries),
        compilers=partial(compilers, place, git) if tries else None,
        machine=machine,
        absent=absent_targets,
        assumed=assumed,
        answers=KeptAnswers(place.state / "meanings" / "answers") if tries else None,
        installed=_installed,
    )


def compilers(place: Place, git: GitReader, protocol: "Protocol", bare: Path | None = None) -> "CompiledVersions":
    """Return what compiles versions of the sources as rules compare them, by `protocol`; with a folder `bare` anew."""
    from expctl.adapters.rules.compiled_versions import CompiledVersions

    state, mark = bare or place.state / "meanings", mark_of(place)
    return CompiledVersions(git, _recipes(), state=state, mark=mark, protocol=protocol, brings=bare is None)


def _probe(place: Place, tries: bool, probe: "Probe") -> "ProbeAnswer":
    from expctl.adapters.rules.probes import ProbeCache

    kept = ProbeCache(place.state / "probes", compiler=_device_compiler, assemble=_assemble, interpret=_interpret)
    return kept(probe) if tries else kept.known(probe)


def _version(tool: str) -> str:
    from expctl.inspection.tool_versions import version_of

    return version_of(tool)


def _installed(tool: str) -> str:
    from expctl.inspection.tool_versions import installed

    return installed(tool)


def _device_compiler() -> str:
    """Return the name and version of the compiler for AMD GPUs; "" if none is installed."""
    return next((f"{tool} {version}" for tool in ("hipcc", "ziglang") if (version := _version(tool))), "")


def _assemble(source: Path, arch: str) -> str:
    from expctl.inspection.device_compiler import Options, compile_source

    return compile_source(source, Options(arch=arch)).assembly


def _interpret(assembly: str) -> None:
    """Raise Refused if the gfx11 interpreter doesn't know an instruction in `assembly`."""
    from expctl.gfx11.launch import load
    from expctl.inspection.readers.assembly_text import kernel_names

    for name in kernel_names(assembly):
        load(assembly, name)


def confinement() -> "Capabilities":
    """Return what the Linux kernel offers here to confine child processes."""
    from expctl.launcher.capabilities import detect_capabilities

    return detect_capabilities()


def walls() -> "Walls":
    """Return the result of the walls' self-test on this machine, which is made if it is not known. Raises MachineTrouble."""
    from expctl.adapters.records.calibrations import state_folder
    from expctl.adapters.walls.kept_result import walls_here

    return walls_here(state_folder())


def walls_tried() -> "Walls":
    """Try the walls anew, whatever is known. Raises MachineTrouble."""
    from expctl.adapters.walls.self_test import try_walls

    return try_walls()


def calibrations(machine: "dict[str, str]") -> "FileCalibrations":
    """Return the store of calibrations; `machine` are facts (name -> text) by which it recognises those of this machine."""
    from expctl.adapters.machine.facts import noise_fingerprint
    from expctl.adapters.records.calibrations import FileCalibrations, state_folder

    return FileCalibrations(state_folder(), noise_fingerprint(machine))


def findings_editor() -> "FindingsEditor":
    """Return the editor of experiments/findings.yaml."""
    from expctl.adapters.records.findings_file import FindingsEditor

    return FindingsEditor()


def _ready_to_launch() -> None:
    """Fix this process's own limits, and make it the parent of orphaned descendants, before it starts anything. Raises
    MachineTrouble if the user's shell lets files grow too little.
    """
    from expctl.adapters.child.contained_process import become_subreaper
    from expctl.adapters.machine.file_limit import raise_file_limit
    from expctl.launcher.own_limits import fix_limits

    raise_file_limit()
    fix_limits()
    become_subreaper()


def mark_of(place: Place) -> str:
    """Return a hash that identifies the repository in the environment of its child processes. By it a later run finds the
    processes that a killed run left behind.
    """
    return hashlib.sha256(str(place.state).encode(errors="surrogateescape")).hexdigest()[:16]


def running(place: Place) -> "tuple[Running, ...]":
    """Return the run that is under way in the repository; if there is none, the runs and tunings that were interrupted."""
    from expctl.adapters.machine.lock_holder import read_holder
    from expctl.domain.tuning.name import TUNE
    from expctl.flow.status import Running

    for lock in (place.state / "lock", place.state / "fleet" / "lock"):
        holder = read_holder(lock)
        if holder is not None and holder.alive():
            return (Running(experiment=holder.experiment, step=holder.step, pid=holder.pid, alive=True),)
    left = sorted(path.stem for path in (place.state / "journal").glob("*.jsonl"))
    left += [TUNE] if any((place.state / TUNE).glob("*.jsonl")) else []
    return tuple(Running(experiment=name, step="interrupted", pid=0, alive=False) for name in left)


def live(place: Place) -> "Live":
    """Return what the repository is doing now, for who looks again and again: the state of things, and the run under way.

    The gate is looked at only while no launch is timed, because looking takes time from the same cores.
    """
    from expctl.adapters.machine.device_lock import MEASURING, WAITING, MachineLock
    from expctl.adapters.records.tuning_under_way import tuning_under_way
    from expctl.domain.tuning.name import TUNE
    from expctl.flow.live import Live
    from expctl.flow.repository.beside import unmerged
    from expctl.flow.status import GateNow, read_status

    place = locate(place.root)
    git = reader(place)
    records, head = library(git), git.found_head()
    steps = {each.facts.step for each in MachineLock().holders() if each.facts is not None}
    timed = MEASURING in steps
    under_way = running(place)
    status = read_status(
        records,
        head=head,
        branch=git.branch(),
        running=under_way,
        machine=machine(),
        absent=absent_targets,
        beside=unmerged(git),
        gate=lambda protocol: (lambda: GateNow(target="")) if timed else gate_now(place, protocol),
        edited=git.is_edited(head, "protocol.yaml"),
    )
    run = None
    if under_way:
        tunes = under_way[0].experiment == TUNE
        run = tuning_under_way(place.state) if tunes else pictures(place, git).under_way(under_way[0].experiment)
    return Live(status=status, run=run, waits=WAITING in steps, timed=timed)


def activity(place: Place) -> tuple[object, ...]:
    """Return a value that changes when a run begins, gets on or ends, or a branch moves. It starts no process."""
    git = place.git_dir
    journals = sorted(file for folder in ("journal", "tune") for file in (place.state / folder).glob("*.jsonl"))
    files = [place.state / "lock", *journals, git / "HEAD", git / "logs" / "HEAD"]
    found: list[object] = []
    for file in files:
        with contextlib.suppress(OSError):
            facts = file.stat()
            found.append((file.name, facts.st_mtime_ns, facts.st_size))
    return tuple(found)


def machine() -> "dict[str, str]":
    """Return facts about this machine (name -> text), which are stored in records."""
    from expctl.adapters.machine.facts import machine_facts

    return machine_facts()


def gate_now(place: Place, protocol: "Protocol") -> "Callable[[], GateNow]":
    """Begin to look at what would block a measurement; the function that is returned says what does. No tool is started."""
    from expctl.adapters.steps.requirements import first_target
    from expctl.flow.status import GateNow

    name = first_target(protocol)
    target = protocol.targets[name]
    machine = gate(place, protocol.gate, own_cards(protocol.gate, protocol.environment, on_gpu=target.uses_gpu))
    blocking = machine.look(target, quick=True)
    return lambda: GateNow(
        target=name, blocking=blocking(), not_asked=machine.slow_sensors(target), beside=machine.beside(target)
    )


def own_cards(
    rule: "Gate", environment: "Environment", shows: "Mapping[str, str] | None" = None, *, on_gpu: bool
) -> "OwnCards | None":
    """Return which cards steps with `environment` see, `shows` coming first; None unless something is timed or tested on a GPU
    (`on_gpu`) and a run keeps to its own, or `shows` names one.
    """
    import os

    from expctl.adapters.machine.own_cards import OwnCards
    from expctl.domain.protocol.cards import Cards

    asked = on_gpu and (shows or rule.cards is Cards.OWN)
    return OwnCards({**os.environ, **environment.set, **(shows or {})}) if asked else None


def gate(
    place: Place,
    rule: "Gate",
    cards: "OwnCards | None",
    *,
    experiment: str = "",
    told: "Callable[[Wait], None]" = lambda _: None,
) -> "MachineGate":
    """Return the gate, which waits until nothing disturbs a measurement, with all its sensors. `rule` are the gate's limits in
    protocol.yaml, `cards` those that `own_cards` returns; others who wait for a lock are told the id `experiment`. `told` is
    called while it waits.
    """
    from expctl.adapters.machine.device_lock import MachineLock
    from expctl.adapters.machine.gate import MachineGate
    from expctl.adapters.machine.measuring_locks import MeasuringLocks
    from expctl.adapters.machine.neighbours import Neighbours
    from expctl.adapters.sensors.amd_smi import AmdSmi
    from expctl.adapters.sensors.amd_sysfs import AmdSysfs
    from expctl.adapters.sensors.cpu_clock import CpuClock
    from expctl.adapters.sensors.cpu_load import CpuLoad
    from expctl.adapters.sensors.device_holders import DeviceHolders
    from expctl.adapters.sensors.gpus import Gpus
    from expctl.adapters.sensors.nvidia_smi import NvidiaSmi
    from expctl.adapters.sensors.process_patterns import ProcessPatterns
    from expctl.adapters.sensors.process_table import ProcessTable
    from expctl.adapters.sensors.suspend import Suspend
    from expctl.adapters.sensors.vendor_tool import VendorTool
    from expctl.domain.protocol.cards import Cards

    names = cards.indices() if cards is not None else {}
    mark, scratch, sysfs = mark_of(place), place.state / "gate", AmdSysfs(names=names.get("HIP_VISIBLE_DEVICES"))
    table, lock = ProcessTable(mark=mark), MachineLock(experiment=experiment)
    neighbours = Neighbours(lock, table)
    sensors = (
        ProcessPatterns(table, rule.patterns, strangers=neighbours.strangers),
        DeviceHolders(table, idle=rule.idle_holders, strangers=neighbours.strangers),
        Gpus("amdgpu", sysfs, rule),
        Gpus(
            "amd-smi",
            AmdSmi(VendorTool("amd-smi", scratch, mark=mark), sysfs, names=names.get("HIP_VISIBLE_DEVICES", "")),
            rule,
            looks=False,
            is_slow=True,
        ),
        Gpus(
            "nvidia-smi",
            NvidiaSmi(VendorTool("nvidia-smi", scratch, mark=mark), names=names.get("CUDA_VISIBLE_DEVICES")),
            rule,
            is_slow=True,
        ),
        CpuLoad(table, rule.others_percent),
        CpuClock(rule.slow_clock_percent),
        Suspend(),
    )
    kept = cards if rule.cards is Cards.OWN else None
    locks = MeasuringLocks(lock, table, experiment=experiment, cards=kept, neighbours=neighbours)
    return MachineGate(rule, lock=locks, table=table, sensors=sensors, told=told)


def checkup(place: Place) -> "tuple[Finding, ...]":
    """Return what `expctl doctor` finds: for each checked part of the installation whether it is right, else how to mend it.
    Raises Refused if the repository has no commit.
    """
    from expctl.adapters.doctor.machine import machine_findings
    from expctl.adapters.doctor.repository import StateCheckup
    from expctl.adapters.doctor.work_tree import work_tree_findings
    from expctl.adapters.records.ledger_file import ledger_mend, ledger_on_disk
    from expctl.adapters.records.replays import Replays
    from expctl.domain.errors import Refused
    from expctl.domain.ledger.model import Ledger
    from expctl.flow.doctor import committed_findings
    from expctl.views.ledger.document import render

    git = reader(place)
    records, head = library_of_git_alone(git), git.head()

    def contradicted() -> tuple[tuple[str, str, str], ...]:
        return tuple((each.id, each.text, each.mend) for each in Replays(records, head).all() if each.differs)

    def record_was(name: str) -> str:
        return git.last_with(head, f"experiments/{name}/record.json")

    def ledger_is(view: Ledger) -> bool:
        on_disk = ledger_on_disk(place.root / "ledger.md")
        return on_disk is not None and git.blob_on_disk("ledger.md") == git.blob_of(render(view).encode())

    rests_on = ""
    known = frozenset(path.split("/")[1] for path in git.list_files(head, "experiments") if path.count("/") > 1)
    with contextlib.suppress(Refused):  # committed_findings reports it
        rests_on = git.files_identity(head, records.protocol(head).watched)
    found = [*machine_findings(place.state), *StateCheckup(git, known, rests_on).findings()]
    found += committed_findings(
        records,
        head,
        history=git.history(head),
        contradicted=contradicted,
        record_was=record_was,
        ledger_is=ledger_is,
        ledger_mend=ledger_mend(place.root / "ledger.md"),
        has_files=lambda name: bool(git.list_files(head, name)),
    )
    found += work_tree_findings(place.root, git.read_file(head, "protocol.yaml"))
    with contextlib.suppress(Refused):  # committed_findings has reported it
        found += _tool_findings(place, records.protocol(head))
    return tuple(found)


def _tool_findings(place: Place, protocol: "Protocol") -> "list[Finding]":
    from expctl.adapters.child.interpreter import with_interpreter
    from expctl.adapters.doctor.environment import snapshot_of
    from expctl.adapters.doctor.packages import package_findings
    from expctl.adapters.machine.waiter import Waiter
    from expctl.domain.checkup import wrong
    from expctl.domain.environment.audit import advice
    from expctl.domain.errors import Refused
    from expctl.flow.doctor import target_findings
    from expctl.views.console import ConsoleProgress

    try:
        environment = with_interpreter(protocol.environment, root=place.root, state=place.state)
    except Refused as refusal:
        return [wrong("python", f"{refusal.message}: {refusal.found}", refusal.hint)]
    toolchains = _tools_for(place, lambda _: (), machine()["machine"], Waiter(ConsoleProgress()), protocol, "").toolchains
    packages = package_findings(protocol, environment, place.root)
    return [*target_findings(protocol, toolchains), *packages, *advice(snapshot_of(protocol, environment, place.root))]


def environment_audit(program: Sequence[str] = ()) -> "tuple[Finding, ...]":
    """Return every item of the audit of the environment (docs/ENVIRONMENT.md): for the steps of the committed protocol of the
    repository that contains the working directory, else for this shell. `program` is a Python file and its arguments, run to
    find graph breaks. Raises Refused if the protocol's interpreter is missing.
    """
    from expctl.adapters.child.interpreter import with_interpreter
    from expctl.adapters.doctor.environment import snapshot_of
    from expctl.domain.environment.audit import audit
    from expctl.domain.errors import Refused
    from expctl.domain.protocol.model import Environment
    from expctl.inspection.readers.recent_triton import triton_kernels

    protocol, environment, root = None, Environment(), Path.cwd()
    with contextlib.suppress(Refused):
        git = reader(place := here())
        protocol, root = library(git).protocol(git.head()), place.root
    if protocol is not None:
        environment = with_interpreter(protocol.environment, root=root, state=place.state)
    return audit(snapshot_of(protocol, environment, root, asks_torch=True, program=program, triton=triton_kernels))


def harness_check(place: Place, target: str) -> "Iterator[Checked]":
    """Yield what works of the work tree's protocol and harness (`target`: the one to try, or ""). Raises Refused for the first
    part that doesn't. Works on a copy, in a folder and with a mark of its own, beside whatever else expctl does here.
    """
    from msgspec.structs import replace

    from expctl.adapters.doctor.work_tree import protocol_of_work_tree
    from expctl.adapters.init.copied_tree import check_syntax, copy_of, line_of
    from expctl.adapters.machine.waiter import Waiter
    from expctl.adapters.steps.requirements import first_target
    from expctl.files import atomic_write
    from expctl.flow.harness_check import Trial, check_harness
    from expctl.views.console import ConsoleProgress

    protocol = protocol_of_work_tree(place.root)
    apart = replace(place, state=place.state / "check")
    _ready_to_launch()
    tools = _tools_for(apart, lambda _: (), machine()["machine"], Waiter(ConsoleProgress()), protocol, "check", watched=False)
    tree = apart.state / "tree"
    try:
        with tools.gate.working(protocol.targets.get(target or first_target(protocol))):
            trial = Trial(
                protocol=protocol,
                tree=tree,
                toolchains=tools.toolchains,
                steps=tools.steps,
                progress=ConsoleProgress(sys.stderr),
            )
            sources = copy_of(place.root, tree)
            check_syntax(tree, protocol)
            file = place.root / "protocol.yaml"
            yield from check_harness(trial, target=target, sources=sources, line_of=lambda text: line_of(file, text))
    finally:
        tools.steps.close()
        atomic_write.remove_tree(apart.state)


def suite_in(file: Path) -> "Suite":
    """Return the suite that a file describes. Raises Refused with every unknown key, wrong type or contradiction."""
    from expctl.adapters.codec import strict_yaml
    from expctl.domain.errors import Refused
    from expctl.files import user_file
    from expctl.suite.cases import faults
    from expctl.suite.model import Suite

    text = user_file.contents(file, "the suite", bytes_max=strict_yaml.BYTES_MAX)
    try:
        suite = strict_yaml.load(text, Suite, where=str(file))
        if found := tuple(faults(suite)):
            raise strict_yaml.contradiction(str(file), found)
    except Refused as refusal:
        refusal.hint = f"edit {file}; docs/SUITE.md of expctl has an example"  # nothing has to be committed
        raise
    return suite


def suite_run(
    place: Place,
    suite: "Suite",
    cases: "Sequence[SuiteCase]",
    name: str,
    progress: "Progress",
    *,
    before: "Callable[[Mapping[str, object]], Sequence[CaseTimes]]",
    told: "Callable[[Mapping[str, object], Sequence[CaseTimes]], None]",
    stop_requested: Callable[[], bool] = lambda: False,
    wait_s: float | None = None,
) -> None:
    """Time `cases` of a suite in its environment `name`, but for those of which `before` returns times, once it is given the
    facts of the environment. After each case, `told` gets these facts and all times so far, in the order of `cases`. It works
    in a state folder of its own; raises Busy while another suite is timed in this repository.
    """
    from msgspec.structs import replace

    from expctl.adapters.child.contained_process import end_survivors
    from expctl.adapters.child.interpreter import with_interpreter
    from expctl.adapters.machine.clock import SystemClock
    from expctl.adapters.machine.repository_lock import RepositoryLock
    from expctl.adapters.machine.waiter import Waiter
    from expctl.adapters.steps.suite_facts import environment_facts
    from expctl.adapters.steps.timed_command import TimedCommand
    from expctl.domain.protocol.model import Gate
    from expctl.files import atomic_write
    from expctl.suite.measure import measure
    from expctl.suite.model import TimedOn

    apart = replace(place, state=place.state / "suite")
    git = reader(place)
    key = f"environments.{name}.python"
    environment = with_interpreter(suite.environments[name], root=place.root, state=apart.state, where=f"the suite, {key}")
    checkouts = {"repository": place.root, **{each: place.root / path for each, path in environment.checkouts.items()}}
    _ready_to_launch()
    waiter, mark = Waiter(progress, stop_requested, wait_s), mark_of(apart)
    with RepositoryLock(apart.state).measuring(experiment=f"suite {name}"):
        end_survivors(mark)
        here = {key: text for key, text in machine().items() if key != "python"}  # the environment has its own
        facts = {"captured": SystemClock().date(), **environment_facts(environment, checkouts), "machine": here}
        found = {(each.kernel, each.shape): each for each in before(facts)}
        keys = {(each.kernel, each.shape): each for each in cases}
        left = [each for key, each in keys.items() if key not in found]
        has_protocol = git.place.head and git.read_file(git.head(), "protocol.yaml") is not None
        rule = suite.gate or (library(git).protocol(git.head()).gate if has_protocol else Gate())
        cards = own_cards(rule, environment, on_gpu=suite.timed_on is TimedOn.GPU)
        if cards is not None:
            environment = replace(environment, set={**environment.set, **cards.shown()})
        machine_gate = gate(apart, waiter.rule(rule), cards, experiment=f"suite {name}", told=waiter.told)
        commands = TimedCommand(
            environment,
            cwd=place.root,
            scratch=apart.state / name,
            mark=mark,
            watch=machine_gate.watch,
            tick=progress.tick,
        )
        out = apart.state / "out"
        try:
            for each in measure(
                suite,
                left,
                commands=commands,
                gate=machine_gate,
                folder=out,
                progress=progress,
                clock=SystemClock(),
                stop_requested=stop_requested,
            ):
                found[each.kernel, each.shape] = each
                told(facts, [found[key] for key in keys if key in found])
        finally:
            atomic_write.remove_tree(out)


def clear(place: Place) -> None:
    """Remove what killed runs and tries left behind: processes, worktrees, half-made commits. Raises Busy while a run is
    alive; a try that is alive keeps what it has.
    """
    from expctl.domain.errors import Busy
    from expctl.flow.repository.recovery import clean_up_dead_runs
    from expctl.views.console import ConsoleProgress

    made = context(place, ConsoleProgress(sys.stderr))
    with made.locks.measuring(experiment=""):
        clean_up_dead_runs(made)
    if place.trying.is_dir():
        tried = trying(place, ConsoleProgress(sys.stderr))
        with contextlib.suppress(Busy), tried.locks.measuring(experiment=""):
            tried.end_survivors()
            tried.workspace.remove_check_outs()


def asking(place: Place) -> "Callable[[Context, str], Proposed | NothingProposed | SweepFinished]":
    """Return a function that asks the proposer in protocol.yaml for one experiment. Its arguments are the context and the name
    of a target.
    """
    from expctl.adapters.proposers.command import ProposerCommand
    from expctl.adapters.proposers.sweep_search import search_of
    from expctl.adapters.records.proposal_file import proposal_bytes, proposal_of
    from expctl.flow.autopilot.ask_proposer import ProposerTools, ask_proposer

    proposer_tools = ProposerTools(
        proposers=ProposerCommand(place.state / "proposer", mark=mark_of(place)),
        search=search_of,
        write=proposal_bytes,
        read=proposal_of,
        night=night(place),
        counter=loop_counter(place),
    )
    return lambda context, target: ask_proposer(context, proposer_tools, target)


def tune_tools(place: Place) -> "TuneTools":
    """Return what `expctl tune` needs beside a context."""
    from typing import get_args

    from expctl.adapters.journal import FileJournal
    from expctl.adapters.proposers.sweep_search import search_for
    from expctl.adapters.records.proposal_file import proposal_bytes
    from expctl.domain.tuning.events import TuneEvent
    from expctl.domain.tuning.name import TUNE
    from expctl.flow.tuning.tune import TuneTools

    kinds = {kind.__name__: kind for kind in get_args(TuneEvent)}
    return TuneTools(journal=FileJournal(place.state / TUNE, kinds=kinds), search=search_for, write=proposal_bytes)


def night(place: Place) -> "NightFile":
    """Return the account of campaigns in this repository."""
    from expctl.adapters.records.night_file import NightFile

    return NightFile(place.state)


def notifier(place: Place, argv: tuple[str, ...]) -> "Notifier":
    """Return a notifier that runs the command `argv` for each outcome and passes it as JSON on the command's input."""
    from expctl.adapters.notifier import Notifier

    return Notifier(argv, place.state / "notify", mark=mark_of(place))


def context(
    place: Place,
    progress: "Progress",
    *,
    stop_requested: Callable[[], bool] = lambda: False,
    wait_s: float | None = None,
    shows: "Mapping[str, str] | None" = None,
) -> "Context":
    """Return all interfaces and functions that commands need to change anything, made for one repository. It also makes this
    process the parent of orphaned descendants, so that none is lost. `stop_requested` tells whether the user has asked to stop;
    `wait_s` replaces the seconds that the protocol waits for a quiet machine; `shows` are variables that hold steps to a card.
    """
    from expctl.adapters.child.contained_process import end_survivors
    from expctl.adapters.codec.record_codec import (
        blind_bytes,
        profile_bytes,
        record_bytes,
        rivals_bytes,
        samples_bytes,
        ticket_bytes,
    )
    from expctl.adapters.git.branch_view import BranchView
    from expctl.adapters.git.workspace import GitWorkspace
    from expctl.adapters.journal import FileJournal
    from expctl.adapters.machine.clock import SystemClock
    from expctl.adapters.machine.repository_lock import RepositoryLock
    from expctl.adapters.machine.waiter import Waiter
    from expctl.adapters.records.calibrations import state_folder
    from expctl.adapters.records.controls import FileControls
    from expctl.adapters.records.durations import FileDurations
    from expctl.ports.context import Context
    from expctl.views.ledger.document import render

    _ready_to_launch()
    waiter = Waiter(progress, stop_requested, wait_s)
    workspace = GitWorkspace(place, _known(place.state.parent))
    capabilities = confinement()
    facts = machine() | {"confinement": capabilities.words()}
    return Context(
        workspace=workspace,
        library=library(workspace),
        rulebook=rulebook(place, workspace),
        journal=FileJournal(place.state / "journal"),
        locks=RepositoryLock(place.state),
        clock=SystemClock(),
        progress=progress,
        calibrations=calibrations(facts),
        controls=FileControls(state_folder()),
        durations=FileDurations(place.state / "durations.json"),
        machine=facts,
        tools_for=partial(_tools_for, place, workspace.check_outs.protected.changed, facts["machine"], waiter, shows=shows),
        seen_from=partial(BranchView, workspace),
        end_survivors=partial(end_survivors, mark_of(place)),
        stop_requested=stop_requested,
        record_bytes=record_bytes,
        samples_bytes=samples_bytes,
        blind_bytes=blind_bytes,
        rivals_bytes=rivals_bytes,
        profile_bytes=profile_bytes,
        ticket_bytes=ticket_bytes,
        render=render,
        gaps=capabilities.gaps(),
        walls=functools.cache(walls),
    )


def trying(place: Place, progress: "Progress") -> "Context":
    """Return the context of `expctl try`. Its work trees, builds and lock lie in a state folder of its own, so that it can work
    beside a run; records and rules are the repository's.
    """
    from msgspec.structs import replace

    own, git = replace(place, state=place.trying), reader(place)
    return replace(context(own, progress), library=library(git), rulebook=rulebook(place, git))


def loop_counter(place: Place) -> "LoopCounter":
    """Return what counts hot loops, and keeps the counts."""
    from expctl.explain.card import counted_loop
    from expctl.flow.measuring.hot_loops import LoopCounter

    return LoopCounter(count=counted_loop, store=hot_loops(place))


def hot_loops(place: Place) -> "HotLoopStore":
    """Return the hot loops that were counted in this repository."""
    from expctl.adapters.records.hot_loop_file import HotLoopStore

    return HotLoopStore(place.state / "hot_loops", compiler=_version("ziglang"))


def count_hot_loops(place: Place) -> "tuple[HotLoop | Uncounted, ...]":
    """Count the hot loops of HEAD that weren't counted here yet. Raises Busy beside a try."""
    from expctl.flow.measuring.hot_loops import count_hot_loops
    from expctl.views.console import ConsoleProgress

    counting = trying(place, ConsoleProgress(sys.stderr))
    with counting.locks.measuring(experiment="count"):
        try:
            return count_hot_loops(counting, loop_counter(place))
        finally:
            counting.workspace.remove_check_outs()


def profile_experiment(place: Place, experiment: str, target: str) -> "ProfiledExperiment":
    """Build and profile both sides of a concluded experiment. Raises Busy beside a try."""
    from expctl.flow.measuring.profile_experiment import profile_experiment
    from expctl.views.console import ConsoleProgress

    profiling = trying(place, ConsoleProgress(sys.stderr))
    with profiling.locks.measuring(experiment="profile"):
        try:
            return profile_experiment(profiling, experiment, target=target)
        finally:
            profiling.workspace.remove_check_outs()


def absent_targets(protocol: "Protocol") -> dict[str, str]:
    """Return what this machine lacks for each target whose requirements it doesn't meet."""
    from expctl.adapters.steps.requirements import unmet

    lacking = {name: unmet(target.requires) for name, target in protocol.targets.items()}
    return {name: each.reason for name, each in lacking.items() if each is not None}


def about(git: GitReader, commit: str, path: str) -> "About":
    """Return the files of `commit` at or below `path`. Raises Refused if there are none."""
    from expctl.domain.brief.about import About
    from expctl.domain.errors import Refused

    asked = str(PurePosixPath(path))
    inside = asked != "." and not PurePosixPath(asked).is_absolute() and ".." not in PurePosixPath(asked).parts
    files = git.list_files(commit, asked) if inside else {}
    if not files:
        raise Refused(
            f"there is no {asked} in this commit",
            code="about-nothing",
            expected="a file or folder of the repository, from its top folder",
            found=f"no such path in {commit[:10]}" if inside else "a path that leads out of it",
            hint=f"git ls-tree -r --name-only {commit[:10]} lists the files",
        )
    texts = git.read_blobs(files.values())
    return About(path=asked, texts={name: texts.get(blob, b"").decode(errors="replace") for name, blob in files.items()})


def measured_beside() -> bool:
    """Is some expctl measuring on this machine now?"""
    from expctl.adapters.machine.device_lock import MachineLock

    return any(holder.measures for holder in MachineLock().holders())


def _recipes() -> "dict[Toolchain, Recipe]":
    from expctl.domain.protocol.model import Toolchain
    from expctl.targets.command import CommandRecipe
    from expctl.targets.cpu import ZigCpuRecipe
    from expctl.targets.gfx1151 import ZigGfxRecipe
    from expctl.targets.rocm import HIPCC
    from expctl.targets.sm_90 import NVCC
    from expctl.targets.source import SourceRecipe

    return {
        Toolchain.COMMAND: CommandRecipe(),
        Toolchain.ZIG_CPU: ZigCpuRecipe(),
        Toolchain.ZIG_GFX: ZigGfxRecipe(),
        Toolchain.HIPCC: HIPCC,
        Toolchain.NVCC: NVCC,
        Toolchain.SOURCE: SourceRecipe(),
    }


def _tools_for(
    place: Place,
    broken: "Callable[[Path], Sequence[str]]",
    machine: str,
    waiter: "Waiter",
    protocol: "Protocol",
    experiment: str,
    *,
    watched: bool = True,
    shows: "Mapping[str, str] | None" = None,
) -> "Tools":
    from msgspec.structs import replace

    from expctl.adapters.child.interpreter import with_interpreter
    from expctl.adapters.machine.settings import TargetSettings
    from expctl.adapters.steps.builder import Builder
    from expctl.adapters.steps.options_file import with_options
    from expctl.adapters.steps.runner import StepRunner
    from expctl.inspection.readers.code_identity import image_hash
    from expctl.ports.context import Tools
    from expctl.profiles.step_profiles import StepProfiles

    mark, scratch = mark_of(place), place.state / "scratch"
    environment = with_interpreter(protocol.environment, root=place.root, state=place.state)
    of_side = partial(with_options, rule=protocol.options, root=place.root, state=place.state)
    on_gpu = any(target.uses_gpu for target in protocol.targets.values())
    cards = own_cards(protocol.gate, environment, shows, on_gpu=on_gpu)
    shown = {**(shows or {}), **(cards.shown() if cards is not None else {})}
    machine_gate = gate(place, waiter.rule(protocol.gate), cards, experiment=experiment, told=waiter.told)
    steps = StepRunner(
        environment=replace(environment, set={**environment.set, **shown}),
        scratch=scratch,
        mark=mark,
        experiment=experiment,
        broken=broken,
        watch=machine_gate.watch if watched else None,
        of_side=of_side,
        core=machine_gate.core,
    )
    return Tools(
        toolchains=Builder(
            _recipes(),
            state=place.state,
            environment=environment,
            mark=mark,
            machine=machine,
            options=protocol.options,
            of_side=of_side,
            image_of=image_hash,
            tick=waiter.progress.tick,
        ),
        steps=steps,
        profiles=StepProfiles(place.state / "profiles" / experiment),
        gate=machine_gate,
        settings=TargetSettings(environment, shown=shown),
    )
