"""A header's name says what it is about: it stands in one module, or in two of different districts.

file_names.py SRC. An include names module and file, but editors, compilers' messages and people often show the file alone.
"""
import collections
import pathlib
import sys

# Each of these says the same of its module: its rows in the table of schedules, its replacements for tests.
EVERYWHERE = {"schedules.h", "fakes.h"}

src = pathlib.Path(sys.argv[1])
places = collections.defaultdict(list)
for path in src.rglob("*.h"):
    places[path.name].append(path.relative_to(src).parts[:2])
wrong = []
for name, modules in sorted(places.items()):
    districts = [district for district, _ in modules]
    if name not in EVERYWHERE and (len(modules) > 2 or len(set(districts)) < len(districts)):
        wrong.append(f"{name} is in {', '.join('/'.join(module) for module in sorted(modules))}: name it after what is in it")
print("\n".join(wrong) or f"{len(places)} names of headers are unmistakable")
sys.exit(1 if wrong else 0)
