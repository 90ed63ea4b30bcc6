"""The library shows what its C header declares, and nothing else."""

import pathlib
import re
import subprocess
import sys

library, header = sys.argv[1:]
wanted = set(re.findall(r"^[a-z].*?\b(kw_\w+)\(", pathlib.Path(header).read_text(), re.MULTILINE))
wanted -= set(re.findall(r"typedef .*?\(\*(kw_\w+)\)", pathlib.Path(header).read_text()))
listed = subprocess.run(["nm", "-D", "--defined-only", library], text=True, capture_output=True, check=True).stdout
shown = set(re.findall(r"^\S+ \S (\S+)$", listed, re.MULTILINE))
for name in sorted(shown ^ wanted):
    print(("shows " if name in shown else "lacks ") + name)
if not wanted:
    print("no functions read from the header")
sys.exit(shown != wanted or not wanted)
