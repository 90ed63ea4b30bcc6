"""PTX text from compilers that run in this process."""
import hashlib
import re

SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


def renamed(text, names):
    """Renames entries by a hash of their text, so that two kernels of one name stay apart; drops debug information."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    text = re.sub(r"\n\t?\.section.*?\n\t?}", "", text, flags=re.S)
    lines = [line for line in text.splitlines() if not re.match(r"\s*(//|\.loc|\.file)", line)]
    text = "\n".join(lines) + "\n"
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}(?=\b|_param_)", f"{name}_{mark}", text)
    return text, [f"{name}_{mark}" for name in names]


def param_sizes(text, entry):
    """The size in bytes of each parameter of an entry."""
    head = re.search(rf"\.entry\s+{re.escape(entry)}\s*\((.*?)\)", text, flags=re.S)
    sizes = []
    for one in head.group(1).split(",") if head and head.group(1).strip() else []:
        width, count = re.search(r"\.[busf](8|16|32|64)\b", one), re.search(r"\[(\d+)\]", one)
        sizes.append(SIZES[width.group(1)] * (int(count.group(1)) if count else 1))
    return sizes
