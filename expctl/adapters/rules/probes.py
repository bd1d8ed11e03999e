"""Run probes of rules (does a snippet compile and, if asked, run through the interpreter?) and store answers by compiler."""

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
from expctl.files import atomic_write

NAME = "probe.hip"


class ProbeCache(Struct, frozen=True):
    """Runs probes (do snippets compile?) and stores their answers below `folder`, which may be deleted at any time.

    `compiler` returns the compiler's name and version ("": none), `assemble` compiles a file to assembly for an architecture,
    `interpret` decodes that assembly; `assemble` and `interpret` raise Refused.
    """

    folder: Path
    compiler: Callable[[], str]
    assemble: Callable[[Path, str], str]
    interpret: Callable[[str], None]

    def __call__(self, probe: Probe) -> ProbeAnswer:
        """Return the answer of a probe (does it pass, compiler, first error); run it if no answer is stored."""
        answer = self.known(probe)
        if answer.tried:
            return answer
        compiler = self.compiler()
        answer = self._tried(probe, compiler)
        atomic_write.replace(self._file(probe, compiler), json.dumps({"passes": answer.passes, "said": answer.said}).encode())
        return answer

    def known(self, probe: Probe) -> ProbeAnswer:
        """Return a probe's answer without running it: the stored one, or `tried` is False. No compiler: `passes` is False."""
        compiler = self.compiler()
        if not compiler:
            return ProbeAnswer(passes=False, said="no compiler is installed here that could try it")
        try:
            kept = json.loads(self._file(probe, compiler).read_bytes())
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
