"""Tables that say which config of a kernel suits a shape: read, looked up and written here, for the kernel's operator and
harness as for the command line. It needs nothing but Python.
"""
