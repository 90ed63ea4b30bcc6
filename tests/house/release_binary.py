"""The release binary can be copied alone: it needs only libc, libm, libgcc and the loader, and nothing newer than
GLIBC_2.34."""
import re
import subprocess
import sys

binary = sys.argv[1]
if binary == "--sanitized":
    print("skipped: a sanitizer build links the sanitizer's libraries")
    sys.exit(77)

ALLOWED = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
NEWEST = (2, 34)

dynamic = subprocess.run(["readelf", "-dW", binary], text=True, capture_output=True, check=True).stdout
needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic))
problems = [f"needs {name}" for name in sorted(needed - ALLOWED)]
if not needed:
    problems.append("no NEEDED entries read: is this a dynamic executable?")

symbols = subprocess.run(["readelf", "--dyn-syms", "-W", binary], text=True, capture_output=True, check=True).stdout
versions = set()
for name, version in re.findall(r"(\S+)@GLIBC_([0-9.]+)", symbols):
    numbers = tuple(int(n) for n in version.split("."))
    versions.add(numbers)
    if numbers > NEWEST:
        problems.append(f"uses {name} of GLIBC_{version}")
if not versions:
    problems.append("no versioned symbols read")
print("\n".join(problems) or f"needs {', '.join(sorted(needed))}; newest symbol GLIBC_{'.'.join(map(str, max(versions)))}")
sys.exit(1 if problems else 0)
