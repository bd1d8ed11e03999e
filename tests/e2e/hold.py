"""hold.py STEP COMMAND...: wait until the file STEP lies in $E2E_GO, then become COMMAND."""

import os
import sys
import time

step, command = sys.argv[1], sys.argv[2:]
while not os.path.exists(os.path.join(os.environ["E2E_GO"], step)):
    time.sleep(0.01)
os.execvp(command[0], command)
