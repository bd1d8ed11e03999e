"""The overhead benchmark with the stand-in made by the host's own C compiler; says where it is every 30 s."""
import faulthandler, subprocess, sys
from pathlib import Path
faulthandler.dump_traceback_later(40, repeat=True)
sys.path.insert(0, str(Path.cwd()))
from tests.faults import shim, fault_lab
def by_gcc(source, target, *options):
    subprocess.run(["gcc", "-O2", *options, "-o", str(target), str(Path(shim.__file__).parent / source)], check=True)
    return target
shim.compile_c = fault_lab.compile_c = by_gcc
import expctl
print("expctl of", expctl.__file__, flush=True)
from benchmarks.overhead import overhead
sys.exit(overhead.main())
