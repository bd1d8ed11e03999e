"""Times the kernel beside what torch users would take instead, in the same process, and lists the kernels of each.

These scripts need torch. `expctl rivals` starts benchmark_rivals.py; docs/RIVALS.md says what it measures.
"""
