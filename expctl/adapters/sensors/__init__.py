"""Sensors of the gate: one module for each way to detect that other programs disturb, and modules that sensors share."""
