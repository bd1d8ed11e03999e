"""Cases by somebody who had not read the interpreter, with arithmetic of their own."""
