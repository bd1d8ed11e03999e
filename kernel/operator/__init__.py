"""What the torch operator (kernel/op.py) is made of: it checks arguments, finds a build, chooses a config, launches."""
