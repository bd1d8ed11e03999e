"""What the torch operator and the harness both need: build a library of the kernel, load it, and know its fp8 formats."""
