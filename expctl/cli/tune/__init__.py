"""The command `expctl tune`."""
