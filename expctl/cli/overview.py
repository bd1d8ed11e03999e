"""The help of `expctl` itself: every verb in its group, with one sentence. It is printed without loading any verb."""

from collections.abc import Callable, Container

GROUPS = {
    "Experiment": {
        "run": "Build, test and measure proposals, and commit each verdict.",
        "try": "Build and test a change against HEAD, and record nothing.",
        "new": "Queue a change as a proposed experiment; nothing is measured yet.",
        "queue": "List proposals in the order they run, or set a priority.",
        "withdraw": "Take a proposal out of the queue, with the reason.",
        "show": "Show one experiment with its figures, verdict and reasons.",
    },
    "Machine": {
        "gate": "Say what would block a measurement now, and since when.",
        "calibrate": "Measure this machine's noise, and which effects it can show.",
        "rivals": "Time what users would take instead, and commit the figures.",
        "suite": "Time a list of kernels in one of several environments.",
        "tune": "Find the config of each shape, and land a table of them.",
        "fleet": "Let several machines judge the experiments of one queue.",
        "doctor": "Find what is wrong here, with the command that mends it.",
    },
    "Account": {
        "status": "Show baselines, the running experiment, queue and verdicts.",
        "brief": "Print what a newcomer or an agent has to know.",
        "report": "Sum up a night: what ran, was kept, was learned, waits for you.",
        "ledger": "Write ledger.md from the records, or check it.",
        "replay": "Compute verdicts again from the committed samples.",
        "verify": "Hold a clone against its own evidence: verdicts and history.",
        "audit": "Measure whether all kept changes together still give their gain.",
        "rules": "List changes that must not be repeated, or check a patch.",
        "finding": "Record a lesson, and what supersedes or contradicts it.",
        "import": "Turn a ledger that was kept by hand into records.",
    },
    "Tools": {
        "check": "Find races and other faults of a kernel, without a GPU.",
        "explain": "Show by source line what bounds a kernel's hot loop.",
        "inspect": "Show registers, spills and instructions of a kernel's file.",
        "occupancy": "Compute how many waves of a kernel fit on a GPU.",
        "profile": "Read what a GPU profiler recorded, or compare two profiles.",
        "compare": "Screen two files of measured times for regressions.",
    },
    "Set-up": {
        "init": "Write the protocol.yaml of a repository that holds a kernel.",
        "harness": "Check the scripts that test and measure the kernel.",
        "mcp": "Serve an agent by MCP: it proposes and reads.",
        "agents": "Grant agents more, and write what they are told.",
    },
}
SENTENCES = {verb: sentence for verbs in GROUPS.values() for verb, sentence in verbs.items()}
OPTIONS = {
    "-h, --help": "Print this, or after a command what it does and takes.",
    "--version": "Print the version.",
    "--install-completion": "Complete commands, options and ids in this shell.",
    "--show-completion": "Print the script that would be installed for that.",
}
NOT_INSTALLED = "Not installed (these add it, in the environment of expctl)"
EXTRAS = {
    "cpu": (("ziglang", "elftools", "numpy"), "Compiles kernels where no ROCm or CUDA is."),
    "harness": (("numpy", "elftools"), "Runs a harness of your own (expctl.harness)."),
    "plot": (("matplotlib",), "Draws .png and .svg files for --plot."),
    "sweep": (("optuna",), "Picks the combinations of a sweep."),
    "agents": (("mcp",), "Serves agents by MCP (expctl mcp)."),
    "fleet": (("ray",), "Spreads experiments over machines (expctl fleet)."),
}
"""Extra of the package -> the modules that it brings, and what they are for."""


def overview_lines(verbs: Container[str], installed: Callable[[str], object]) -> list[str]:
    """Return the help of `expctl` as lines of at most 80 characters, with the verbs of GROUPS that are among `verbs`, and with
    each of EXTRAS that has a module for which `installed` returns a false value.
    """
    lines = [
        "Usage: expctl COMMAND [OPTIONS]   (expctl COMMAND --help says more)",
        "",
        "Measures each change to a kernel, keeps what is shown to be faster, and records",
        "what was tried and why it was kept or rejected.",
    ]
    for group, sentences in GROUPS.items():
        present = [(verb, sentence) for verb, sentence in sentences.items() if verb in verbs]
        lines += ["", group, *(f"  {verb:<10}  {sentence}" for verb, sentence in present)] if present else []
    lines += ["", "Options", *(f"  {option:<20}  {sentence}" for option, sentence in OPTIONS.items())]
    absent = {extra: use for extra, (modules, use) in EXTRAS.items() if not all(map(installed, modules))}
    missing = [f"  pip install 'expctl[{extra}]'".ljust(32) + use for extra, use in absent.items()]
    return [*lines, "", NOT_INSTALLED, *missing] if missing else lines
