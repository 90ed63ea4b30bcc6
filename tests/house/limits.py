"""No test has a time limit of its own: a busy machine is slow, not wrong. The one there is ends what hangs.

    limits.py ROOT
"""
import pathlib
import re
import sys

WORD = re.compile(r"\b(?:DISCOVERY_)?TIMEOUT\s+(\S+?)\)?(?=\s|$)")
root = pathlib.Path(sys.argv[1])
files = [root / "CMakeLists.txt", *sorted(root.glob("cmake/*.cmake")), *sorted(root.glob("src/**/CMakeLists.txt")),
         *sorted(root.glob("tests/**/CMakeLists.txt"))]
found, wrong = 0, []
for path in files:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for value in WORD.findall(line.split("#")[0]):
            found += 1
            if value != "${KW_HANG_SECONDS}":
                wrong.append(f"{path.relative_to(root)}:{number}: TIMEOUT {value}: write TIMEOUT ${{KW_HANG_SECONDS}}")
print("\n".join(wrong) or f"{found} limits, all the same")
sys.exit(1 if wrong or not found else 0)
