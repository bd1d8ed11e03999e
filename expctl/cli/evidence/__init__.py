"""Commands that hold what is committed against its own evidence."""
