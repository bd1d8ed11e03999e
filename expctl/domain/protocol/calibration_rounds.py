"""The usual and the smallest number of rounds of a calibration."""

ROUNDS = 24  # of a calibration: estimates sigma to about 15 %, an autocorrelation to about 0.2
ROUNDS_LEAST = 5
