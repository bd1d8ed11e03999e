"""What is tested, timed and limited of model.py; cpu.py and gpu.py run it."""

import numpy as np
import torch
from guards import graph_breaks, peak_memory_mib, recompilations
from reference import logits
from traces import write_trace
from weights import Shape, random_weights

from expctl.harness import Kernel

SHAPE = Shape()
WEIGHTS = random_weights(SHAPE)
EXACT = {name: weight.double() for name, weight in WEIGHTS.items()}


class Inference(Kernel):
    """Prefill reads a prompt into an empty cache; decode adds one token to one that holds 64."""

    where, trace = "cpu", ""
    sizes = {
        "prefill batch=1 length=32": dict(batch=1, length=32, start=0),
        "prefill batch=4 length=32": dict(batch=4, length=32, start=0),
        "decode batch=1": dict(batch=1, length=1, start=64),
        "decode batch=4": dict(batch=4, length=1, start=64),
    }
    in_place = True  # the cache gets the new keys and values
    rel_l2, max_abs = 2e-2, 0.5  # coarse: `logit_error` in protocol.yaml is the limit that binds

    def load(self, artifact):
        return super().load(artifact).load(SHAPE, WEIGHTS, self.where)

    def inputs(self, rng, batch, length, start):
        tokens = rng.integers(0, SHAPE.vocabulary, (batch, length))
        cache = rng.standard_normal((SHAPE.layers, 2, batch, SHAPE.kv_heads, SHAPE.positions, SHAPE.head_size), dtype="float32")
        return torch.from_numpy(tokens).to(self.where), torch.from_numpy(cache).to(self.where), start

    def call(self, build, tokens, cache, start):
        return build(tokens, cache, start)

    def reference(self, tokens, cache, start):
        return logits(SHAPE, EXACT, tokens.cpu(), cache.cpu().double(), start)

    def facts(self, build):
        """Leave a trace of torch.profiler, where the profile step asks for one."""
        if self.trace:
            write_trace(build, self.drawn(), self.trace)
        return ()

    def drawn(self):
        """Return the inputs of one call of each size."""
        return [self.inputs(np.random.default_rng(number), **size) for number, size in enumerate(self.sizes.values())]

    def metrics(self, build):
        """Return the guards: figures of what was just tested, which `metrics` in protocol.yaml limits."""
        errors = []
        for tokens, cache, start in self.drawn():
            eager = logits(SHAPE, WEIGHTS, tokens.cpu(), cache.cpu(), start)
            errors.append(((build(tokens, cache.clone(), start).cpu() - eager).abs().max() / eager.abs().max()).item())
        return {
            "logit_error": max(errors),
            "recompilations": recompilations(build, self.drawn()),
            "peak_memory_mib": peak_memory_mib(build, self.drawn()),
            "graph_breaks": graph_breaks(build, self.drawn()),  # the last: it forgets what is compiled
        }
