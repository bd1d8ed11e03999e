"""Scripts that test, time and profile one build of the kernel, and keep the contract of docs/HARNESS.md.

They need numpy and kernel.runtime. Of expctl they import the harness library, `expctl.harness`; three files the gfx1151
interpreter, `expctl.gfx11`: emulate_scaled_mm.py, emulated.py and assembly_check.py. pyproject.toml holds this as a contract.
"""
