"""What a tuning is called."""

TUNE = "tune"
"""What a tuning is called where an experiment has its id: in locks, and as the folder of its journals."""
