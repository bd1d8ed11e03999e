"""Sensors of the gate: one module for each way to detect foreign work, and what several of them read."""
