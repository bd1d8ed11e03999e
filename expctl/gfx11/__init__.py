"""An interpreter of clang's gfx11 assembly text (wave32), in numpy: exact counts and faults, no timing model.

`launch.interpret` is the way in. What is not known is an error that names the line, never skipped.
"""
