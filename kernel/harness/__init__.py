"""Tests, times and profiles one build of the kernel. Imports nothing from expctl and nothing but numpy."""
