"""One JSON line to expctl, or to the screen."""

import json
import os
import sys


def say(**line):
    fd = os.environ.get("EXPCTL_RESULT_FD")
    text = json.dumps(line) + "\n"
    if fd is None:
        sys.stdout.write(text)
    else:
        os.write(int(fd), text.encode())
