#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rooms of the tree: no header name twice, no folder with more than 40 files of code, and
no cycle of includes between rooms. A room is a folder without folders of code below it. In
other folders each file is a room together with its header."""

import os
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter

STAGES = ("profiler", "symbolize", "analysis", "microbench")
ONE_WAY = ("profiler/perf/", "profiler/simpmu/", "analysis/", "microbench/",
           *(f"symbolize/{room}/" for room in (
               "access", "base", "code", "doubt", "elf", "evidence", "flow", "linkage",
               "names", "objects", "types", "use", "variables")))
FILES_MAX = 40


def code():
    """The paths of all files of code."""
    for stage in STAGES:
        for folder, _, names in os.walk(stage):
            for name in names:
                if name.endswith((".c", ".h", ".inc")):
                    yield os.path.join(folder, name)


def room(path, parents):
    folder = os.path.dirname(path)
    return os.path.splitext(path)[0] if folder in parents else folder + "/"


def main():
    os.chdir(os.environ["SOURCE_DIR"])
    files = sorted(code())
    folders = defaultdict(list)
    headers = defaultdict(list)
    for path in files:
        folders[os.path.dirname(path)].append(path)
        if path.endswith(".h"):
            headers[os.path.basename(path)].append(path)
    for name, paths in headers.items():
        assert len(paths) == 1, f"one name, several headers: {paths}"
    for folder, inside in folders.items():
        assert len(inside) <= FILES_MAX, f"{folder} has {len(inside)} files of code"

    parents = {os.path.dirname(folder) for folder in folders}
    arrows = defaultdict(set)
    for path in (path for path in files if path.startswith(ONE_WAY)):
        with open(path, encoding="utf-8") as text:
            included = re.findall(r'^#include "(?:.*/)?([^"/]+)"', text.read(), re.MULTILINE)
        for header in (headers[name][0] for name in included if name in headers):
            if room(header, parents) != room(path, parents):
                arrows[room(path, parents)].add(room(header, parents))
    assert len(arrows) > 50, f"includes were not found: {len(arrows)}"
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as cycle:
        raise AssertionError(f"rooms include each other: {cycle.args[1]}") from None


main()
