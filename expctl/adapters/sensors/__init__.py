"""Sensors of the gate: a module for each way to detect other programs that disturb, and modules that sensors share."""
