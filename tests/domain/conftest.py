"""hypothesis on a machine that also measures: no deadlines, the same examples every time, nothing left on disk."""

from hypothesis import settings

settings.register_profile("quick", max_examples=60, deadline=None, derandomize=True, database=None)
settings.load_profile("quick")
