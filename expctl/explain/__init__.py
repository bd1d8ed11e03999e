"""Explain where a kernel's hot loop spends instructions, LDS passes, memory lines and registers, by line of its source."""
