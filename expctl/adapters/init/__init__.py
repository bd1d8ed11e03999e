"""Looks at a repository and a machine, so that `expctl init` need not ask."""
