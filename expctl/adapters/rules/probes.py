"""Run probes of do-not-repeat rules and store their results for each compiler.

A probe asks whether a snippet compiles and, if it says so, runs through the interpreter.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Probe, Until
from expctl.domain.rules.current_facts import ProbeAnswer
from expctl.domain.text import one_line
from expctl.files import checked_json

NAME = "probe.hip"


class ProbeCache(Struct, frozen=True):
    """Runs probes (does a snippet compile?) and stores their results below `folder`, which may be deleted at any time.

    `compiler` returns the compiler's name and version ("": none), `assemble` compiles a file to assembly for an architecture,
    `interpret` decodes that assembly; `assemble` and `interpret` raise Refused.
    """

    folder: Path
    compiler: Callable[[], str]
    assemble: Callable[[Path, str], str]
    interpret: Callable[[str], None]

    def __call__(self, probe: Probe) -> ProbeAnswer:
        """Return the result of `probe` with the installed compiler: did it pass, and why not. Run it if none is stored."""
        answer = self.known(probe)
        if answer.tried:
            return answer
        compiler = self.compiler()
        answer = self._tried(probe, compiler)
        checked_json.write(self._file(probe, compiler), {"passes": answer.passes, "said": answer.said})
        return answer

    def known(self, probe: Probe) -> ProbeAnswer:
        """Return the stored result of `probe` without running it; `tried` is False if there is none. If no compiler is
        installed the result is that the probe doesn't pass.
        """
        compiler = self.compiler()
        if not compiler:
            return ProbeAnswer(passes=False, said="no compiler is installed here that could try it")
        try:
            kept = checked_json.read(self._file(probe, compiler))
            return ProbeAnswer(passes=kept["passes"] is True, said=str(kept["said"]))
        except (OSError, ValueError, KeyError, TypeError):
            return ProbeAnswer(passes=False, said="nobody has tried it here", tried=False)

    def _file(self, probe: Probe, compiler: str) -> Path:
        words = json.dumps((probe.source, probe.arch, probe.until, compiler))
        return self.folder / f"{hashlib.sha256(words.encode()).hexdigest()[:32]}.json"

    def _tried(self, probe: Probe, compiler: str) -> ProbeAnswer:
        with tempfile.TemporaryDirectory(prefix="expctl-probe.") as folder:
            source = Path(folder) / NAME
            source.write_text(probe.source, encoding="utf-8")
            try:
                assembly = self.assemble(source, probe.arch)
                if probe.until is Until.INTERPRETS:
                    self.interpret(assembly)
            except Refused as refusal:
                said = " ".join(part for part in (refusal.message, refusal.found) if part).replace(f"{folder}/", "")
                return ProbeAnswer(passes=False, said=f"{compiler}: {one_line(said)}")
        return ProbeAnswer(passes=True, said=compiler)
