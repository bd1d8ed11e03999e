"""Times one build for the requests of a benchmark (docs/HARNESS.md); expctl.harness.requests reads and answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from expctl.harness.report import Fault, Value
from expctl.harness.requests import TimedRequest
from kernel.harness import script_session
from kernel.harness.reference import Limits
from kernel.harness.script_session import Asked, ScriptSession
from kernel.harness.shapes import Extents
from kernel.harness.timing import TimedSize
from kernel.runtime.formats import Fp8
from kernel.runtime.library import format_config


class BenchmarkWorker:
    """Times all sizes of one `begin`; see expctl.harness.requests.Worker."""

    def __init__(self, session: ScriptSession, asked: Asked, fp8: Fp8, limits: Limits) -> None:
        self._session, self._asked, self._fp8, self._limits = session, asked, fp8, limits
        self._sizes: dict[str, TimedSize] = {}
        self._configs: dict[str, str] = {}

    def begin(self, seed: int, sizes: Sequence[str]) -> Mapping[str, Value]:  # noqa: D102 - see Worker
        for name in sizes:
            extents, asked = self._product(name)
            config, place = script_session.chosen_for(self._session.build, asked, extents)
            self._sizes[name] = TimedSize(self._session, config, self._fp8, extents, seed)
            self._configs[name] = format_config(self._session.build.configs[config]) + (f" ({place})" if place else "")
        for size in self._sizes.values():
            size.warm_up()
        self._session.outside_clock.start()
        build = self._session.build
        return {
            "target": build.target,
            "config": self._config_fact(),
            "b_dtype": self._fp8.label,
            "sandbox": self._session.supervisor.confinement,
            **build.device,
        }

    def _product(self, name: str) -> tuple[Extents, Asked]:
        """Read the name of a size, which may end in the config to time it with: 64x512x512@1,8,2,2,8,2, or @auto."""
        product, _, config = name.partition("@")
        try:
            return Extents.parse(product), script_session.asked_config(config) if config else self._asked
        except ValueError as error:
            raise Fault(str(error)) from error

    def _config_fact(self) -> str:
        if len(set(self._configs.values())) == 1:
            return next(iter(self._configs.values()))
        return "; ".join(f"{name}: {config}" for name, config in self._configs.items())

    def time(self, size: str, iterations: int) -> TimedRequest:  # noqa: D102 - see Worker
        return self._sizes[size].time(iterations)

    def check(self) -> None:  # noqa: D102 - see Worker
        for size in self._sizes.values():
            size.check(self._limits)
        self._session.supervisor.audit_process()

    def release(self) -> None:  # noqa: D102 - see Worker
        for size in self._sizes.values():
            size.release()
