"""Figures that a fast model must not pay with."""

import torch


def recompilations(build, drawn):
    """Return how many graphs are compiled when each size is called again."""
    counters = _counters()
    before = counters["stats"]["unique_graphs"]
    for tokens, cache, start in drawn:
        build(tokens, cache.clone(), start)
    return counters["stats"]["unique_graphs"] - before


def graph_breaks(build, drawn):
    """Return how often torch.compile left the graph; of a model that isn't compiled, how often it would, in one call of each
    size. Forgets what is compiled.
    """
    counters = _counters()
    if counters["stats"]["unique_graphs"]:
        return sum(counters["graph_break"].values())
    found = 0
    for tokens, cache, start in drawn:
        torch._dynamo.reset()
        found += torch._dynamo.explain(build)(tokens, cache, start).graph_break_count
    torch._dynamo.reset()
    return found


def peak_memory_mib(build, drawn):
    """Return the most that one call holds beyond weights and inputs, in MiB."""
    return max(_peak(build, *each) for each in drawn) / 2**20


def _peak(build, tokens, cache, start):
    if tokens.is_cuda:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        build(tokens, cache, start)
        return torch.cuda.max_memory_allocated() - before
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        build(tokens, cache, start)
    held = most = 0
    for event in profiler.profiler.kineto_results.events():
        held += event.nbytes() if event.name() == "[memory]" else 0
        most = max(most, held)
    return most


def _counters():
    from torch._dynamo.utils import counters  # here, since it takes a second to load, which no worker needs

    return counters
