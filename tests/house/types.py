"""No name of a type stands for different things in more than two modules: a reader would have to guess which one is meant.

types.py SRC
"""
import collections
import pathlib
import re
import sys

src = pathlib.Path(sys.argv[1])
MOST = 2
SKIP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|^\s*#[^\n]*', re.S | re.M)
TYPE = re.compile(r"^(?:template <[^>]*>\s*)?(?:struct|class|enum class|enum) (\w+)(?: final)?(?: ?:[^:;{][^;{]*)? ?\{", re.M)

places = collections.defaultdict(set)
for path in sorted(src.glob("*/*/*.h")):
    for name in TYPE.findall(SKIP.sub("", path.read_text())):
        places[name].add(path.parent.name)
broken = [f"{name} is a type of {', '.join(sorted(modules))}" for name, modules in sorted(places.items()) if len(modules) > MOST]
print("\n".join(broken) or f"{len(places)} names of types, none in more than {MOST} modules")
sys.exit(1 if broken else 0)
