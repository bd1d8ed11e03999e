"""What stands for hipcc: copies the source, or fails the way the real one does, if the file MODE says so and the source is a
candidate of `FASTER`.

`hipcc_stand_in.py CALLS MODE WORDS...`. The texts have the form that users of ROCm 6.4 and 7.1
have reported; names and places are ours.
"""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

VERSION = """HIP version: 7.1.0-stand-in
AMD clang version 20.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-7.1.0)
Target: x86_64-unknown-linux-gnu
Thread model: posix
InstalledDir: /opt/rocm-7.1.0/lib/llvm/bin
Configuration file: /opt/rocm-7.1.0/lib/llvm/bin/clang++.cfg
"""
ERROR = """{source}:71:19: error: '__builtin_amdgcn_cvt_pk_f16_fp8' needs target feature gfx1250-insts
   71 |             acc = __builtin_amdgcn_cvt_pk_f16_fp8(a);
      |                   ^
1 error generated when compiling for gfx1151.
failed to execute:/opt/rocm/lib/llvm/bin/clang++  {words}
"""
CRASH = """PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash backtrace.
Stack dump:
0.\tProgram arguments: /opt/rocm/lib/llvm/bin/clang-20 -cc1 -triple amdgcn-amd-amdhsa -aux-triple x86_64-unknown-linux-gnu
1.\tRunning pass 'Function Pass Manager' on module '{source}'.
clang++: error: unable to execute command: Segmentation fault (core dumped)
clang++: error: clang frontend command failed due to signal (use -v to see invocation)
"""


def main() -> int:
    """The exit status."""
    noted, mode_file, *words = sys.argv[1:]
    if "--version" in words:
        print(VERSION, end="")
        return 0
    with open(noted, "a") as calls:
        calls.write(f"hipcc {' '.join(words[:-1])}\n")
    source = next(word for word in words if word.endswith(".py") and not word.startswith("/"))
    text = Path(source).read_text()
    mode = Path(mode_file).read_text() if os.path.exists(mode_file) and "sum([" in text else ""
    if mode in ("error", "crash"):
        print((ERROR if mode == "error" else CRASH).format(source=source, words=" ".join(words)), file=sys.stderr, end="")
        return 1 if mode == "error" else 254
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGSEGV)
    if mode == "hang":
        time.sleep(600)
    if mode == "garbage":
        Path(words[-1]).write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40)
    elif mode != "nothing":
        compile(text, source, "exec")
        shutil.copy(source, words[-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
