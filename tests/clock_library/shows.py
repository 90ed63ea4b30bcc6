"""The clock's library shows foreign processes its own functions and nothing else."""
import re
import subprocess
import sys

WANTED = {"kw_clock_open", "kw_clock_close", "kw_clock_ask", "kw_clock_error", "kw_clock_lost"}

listed = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], text=True, capture_output=True, check=True).stdout
shown = {name for name in re.findall(r"^\S+ \S (\S+)$", listed, re.MULTILINE)}
for name in sorted(shown ^ WANTED):
    print(("shows " if name in shown else "lacks ") + name)
sys.exit(shown != WANTED)
