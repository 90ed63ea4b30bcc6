"""Names of anonymous namespaces are unique within a module: its sources may be compiled together.

names.py SRC. Which sources share a compilation follows from how many there are, so that two that never met
may meet when a third is added. Sources named APART or SIMD in src/CMakeLists.txt never meet any other.
"""
import collections
import pathlib
import re
import sys

src = pathlib.Path(sys.argv[1])
OPEN = re.compile(r"^namespace \{$")
CLOSE = re.compile(r"^\}  // namespace$")
TYPE = re.compile(r"^(?:template <.*> ?)?(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: :.*)?(?: \{|;|$)")
ALIAS = re.compile(r"^using (\w+) = (.*?;)")
CONSTANT = re.compile(r"^(?:inline |static |thread_local )*(?:constexpr|const|constinit) [^()=]*?\b(\w+)(?:\[[^\]]*\])*(?: =|\{|;)")
FUNCTION = re.compile(r"^(?:[\w:<>,*&\[\] ]+ [*&]?)?(\w+)\((.*)$")
TEXT = re.compile(r'R"\w*\(.*?\)\w*"', re.S)


def parameters(lines, at, first):
    """The types of a function's parameters, as far as words tell: overloads differ in them."""
    text = first
    while text.count("(") + 1 > text.count(")") and at + 1 < len(lines):
        at += 1
        text += " " + lines[at].strip()
    depth, end = 1, 0
    while end < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    inside = re.sub(r"=[^,]*", "", text[: end - 1])
    return ",".join(re.sub(r"\s*\b\w+$", "", one.strip()) if " " in one.strip() else one.strip()
                    for one in re.split(r",(?![^<]*>)", inside))


def definitions(path):
    """What a source defines, each with what makes it this and not another: an alias may be repeated, all else not."""
    lines = TEXT.sub('""', path.read_text()).split("\n")
    inside = False
    for at, line in enumerate(lines):
        if OPEN.match(line):
            inside = True
        elif CLOSE.match(line):
            inside = False
        elif inside and line and not line[0].isspace():
            for pattern in (TYPE, ALIAS, CONSTANT):
                found = pattern.match(line)
                if found and not (pattern is TYPE and line.endswith(";")):
                    yield found[1], found[2] if pattern is ALIAS else path.name
                    break
            else:
                found = FUNCTION.match(line)
                if found and not line.endswith(";") and not line.startswith(("TEST", "INSTANTIATE", "template", "#", "//")):
                    yield f"{found[1]}({parameters(lines, at, found[2])})", path.name


modules = (src / "CMakeLists.txt").read_text()
apart = set(re.findall(r"\b(\w+\.cpp)\b", " ".join(re.findall(r"(?:APART|SIMD) ([^)]*)\)", modules))))
failed = 0
groups = [(path.name, sorted(path.glob("*.cpp")), False) for path in sorted(src.glob("*/*")) if path.is_dir()]
groups += [(name, paths, True) for name, paths, _ in groups if not (src / "generate" / name).is_dir()]
# One namespace for code generation, and one program for its tests.
groups.append(("generate", sorted(src.glob("generate/*/*.cpp")), True))
for group, paths, tests in groups:
    places, meanings = collections.defaultdict(set), collections.defaultdict(set)
    for path in paths:
        if path.name.endswith("_test.cpp") == tests and path.name not in apart:
            for name, meaning in definitions(path):
                places[name].add(path.name)
                meanings[name].add(meaning)
    for name, files in sorted(places.items()):
        if len(meanings[name]) > 1:
            failed += 1
            print(f"{group}: {name} is in the anonymous namespaces of {', '.join(sorted(files))}")
print(f"{failed} names are defined twice in a module")
sys.exit(failed > 0)
