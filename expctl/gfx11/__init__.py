"""An interpreter of clang's gfx11 assembly text (wave32), in numpy: exact counts and faults, no timing model.

The entry point is `launch.interpret`. An opcode, operand or directive that is not implemented raises Unsupported with its line.
"""
