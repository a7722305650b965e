#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The default model beside the machine at hand: `memlag record --with-clock` with default
options on small examples and common programs, which need debug information (--path DIR finds
them before PATH). Prints a Markdown table. Each program's first five lines by measured time
are compared in two ways:

stalls: with the first five by modelled stalls, as reports rank them. Lines that compute have
    time and no stall, so this is no fair comparison for them.
time: with the first five by modelled time (modelled_ratio): stalls, and as much of the other
    cycles as the line has of executed instructions and wrong predictions.

Lines of one file and number are one here, whatever functions they were inlined into. Without
line numbers each function counts as a line. A line that is next to one of the other five
counts as common in "beside": a timer sample can be on the line after. rho is Spearman's rank
correlation over the ten first of both lists. "again" is what a perfect model would reach: the
same for as many samples drawn anew from the measured distribution, the mean of 50 draws. No
test: the figures are this machine's, and the load average says how busy it was."""
import argparse
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

FIRST, RANKED = 5, 10
LEAST = 0.01  # of the time; lines with less are left out

SQLITE = """
CREATE TABLE t (a INTEGER, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
INSERT INTO t SELECT i * 7919 % 120011, hex(i * 104729) FROM n;
CREATE INDEX t_a ON t (a);
SELECT count(*), sum(length(x.b)) FROM t AS x JOIN t AS y ON y.a = (x.a * 31) % 120011;
"""
PERL = 'my %h; while (<>) { $h{$_}++ for split } print scalar(keys %h), "\\n"'
AWK = '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) c++; print c }'
LUA = """
local words, state = {}, 12345
for i = 1, 300000 do
   state = (state * 1103515245 + 12345) % 2147483648
   local word = 'word' .. (state % 49999)
   words[word] = (words[word] or 0) + i
end
local names = {}
for name in pairs(words) do names[#names + 1] = name end
table.sort(names)
print(#names, names[1])
"""
JS = """
const words = {}; let state = 12345;
for (let i = 0; i < 300000; i++) {
    state = (state * 1103 + 12345) % 2147483;
    const word = "word" + (state % 49999);
    words[word] = (words[word] || 0) + i;
}
print(Object.keys(words).sort().length);
"""
C = "".join(f"int f{i}(int a, int *b) {{ for (int i = 0; i < a; i++) b[i] += i * {i};"
            f" return a > 3 ? f{max(i - 1, 0)}(a - 1, b) : b[0]; }}\n" for i in range(20000))


def programs(examples, text):
    """Names and commands; TEXT is some MB of words."""
    return [
        ("example: chase", [f"{examples}/chase"]),
        ("example: columns", [f"{examples}/columns"]),
        ("gzip", ["gzip", "-6c", text]),
        ("minigzip", ["minigzip", "-9", "-c", text]),
        ("zopfli", ["zopfli", "--i1", "-c", text + ".tiny"]),
        ("bzip2", ["bzip2", "-c", text]),
        ("brotli", ["brotli", "-q", "6", "-c", text + ".large"]),
        ("zstd", ["zstd", "-9qc", "--single-thread", text + ".large"]),
        ("lz4", ["lz4", "-9qc", text]),
        ("sqlite3", ["sqlite3", ":memory:", SQLITE]),
        ("lua", ["lua", text + ".lua"]),
        ("qjs", ["qjs", text + ".js"]),
        ("mawk", ["mawk", AWK, text + ".large"]),
        ("tcc", ["tcc", "-c", "-o", text + ".o", text + ".c"]),
        ("xz", ["xz", "-1c", "-T1", text + ".small"]),
        ("perl", ["perl", "-e", PERL, text + ".large"]),
        ("sort", ["sort", "--parallel=1", text + ".large"]),
    ]


def write_inputs(directory):
    """The same text each time: words as in a language, few of them often."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(30000)]
    lines = (" ".join(words[min(int(chance.paretovariate(0.6)) - 1, 29999)]
                      for _ in range(10)) for _ in range(45000))
    text = "\n".join(lines) + "\n"
    path = os.path.join(directory, "text")
    pathlib.Path(path).write_text(text)
    pathlib.Path(path + ".large").write_text(4 * text)
    pathlib.Path(path + ".small").write_text(text[:1400000])
    pathlib.Path(path + ".tiny").write_text(text[:120000])
    pathlib.Path(path + ".c").write_text(C)
    pathlib.Path(path + ".lua").write_text(LUA)
    pathlib.Path(path + ".js").write_text(JS)
    return path


def base(file):
    return os.path.basename(file or "?")


def shares(path):
    """Measured time, stalls and modelled time by line, and the number of timer samples."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    measured, stalled, modelled = {}, {}, {}
    for place, line, *ratios in db.execute(
            "SELECT coalesce(file, module), coalesce(line, function, function_offset),"
            " measured_ratio, stalled_ratio, modelled_ratio FROM line_measured_view"):
        key = (base(place), line)
        for side, ratio in zip((measured, stalled, modelled), ratios):
            side[key] = side.get(key, 0) + (ratio or 0)
    samples, = db.execute("SELECT sum(samples) FROM clock_sample").fetchone()
    return measured, stalled, modelled, samples


def first(by_line, count=FIRST):
    lines = [line for line, share in by_line.items() if share >= LEAST]
    return sorted(lines, key=lambda line: (-by_line[line], line[0], str(line[1])))[:count]


def near(line, others):
    """Whether LINE, or one next to it, is among OTHERS."""
    file, number = line
    beside = [number - 1, number + 1] if isinstance(number, int) else []
    return any((file, each) in others for each in [number, *beside])


def ranks(values):
    """Ranks from 1, equal values sharing the mean of theirs."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            result[i] = (at + end + 1) / 2
        at = end
    return result


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    product = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    square_a = sum((x - mean_a) ** 2 for x in a)
    square_b = sum((y - mean_b) ** 2 for y in b)
    return product / (square_a * square_b) ** 0.5


def agreement(measured, model):
    """(places, in common, in common or beside, rank correlation or None)"""
    five, others = first(measured), first(model)
    lines = list(dict.fromkeys(first(measured, RANKED) + first(model, RANKED)))
    sides = [ranks([side.get(line, 0) for line in lines]) for side in (measured, model)]
    rho = (correlation(*sides)
           if len(lines) >= 3 and all(len(set(side)) > 1 for side in sides) else None)
    return (len(five), sum(line in others for line in five),
            sum(near(line, others) for line in five), rho)


def drawn_anew(measured, samples):
    """(places in common, rank correlation) of the measured times with themselves."""
    chance = random.Random(1)
    lines, draws = list(measured), 50
    common, rhos = 0, []
    for _ in range(draws):
        drawn = dict.fromkeys(lines, 0)
        for line in chance.choices(lines, weights=measured.values(), k=samples):
            drawn[line] += sum(measured.values()) / samples
        _, equal, _, rho = agreement(measured, drawn)
        common += equal / draws
        rhos += [rho] if rho is not None else []
    return common, sum(rhos) / len(rhos) if rhos else None


def record(options, command, directory):
    path = os.path.join(directory, "run.db")
    done = subprocess.run([options.memlag, "record", "--force", "--with-clock", *options.option,
                           "-o", path, "--", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"{command[0]}: status {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
    return path if done.returncode == 0 else None


def show(name, measured, stalled, model):
    for line in dict.fromkeys(first(measured) + first(model) + first(stalled)):
        print(f"  {name} {line[0]}:{line[1]}: measured {measured.get(line, 0):.3f},"
              f" modelled {model.get(line, 0):.3f}, stalled {stalled.get(line, 0):.3f}",
              file=sys.stderr)


def compare(path, name):
    measured, stalled, modelled, samples = shares(path)
    show(name, measured, stalled, modelled)
    return (samples, agreement(measured, stalled), agreement(measured, modelled),
            drawn_anew(measured, samples))


def number(rho):
    return "-" if rho is None else f"{rho:.2f}"


class Sums:
    """Over all programs, in one of the two ways."""

    def __init__(self):
        self.places = self.common = self.beside = self.good = self.ranked = 0

    def add(self, places, common, beside, rho):
        self.places, self.common = self.places + places, self.common + common
        self.beside += beside
        self.ranked += rho is not None
        self.good += rho is not None and rho >= 0.8

    def text(self):
        percent = 100 / max(self.places, 1)
        return (f"{self.common} of {self.places} places ({percent * self.common:.0f} %),"
                f" {self.beside} with lines beside ({percent * self.beside:.0f} %), rank"
                f" correlation of at least 0.8 in {self.good} of {self.ranked}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memlag", type=os.path.abspath)
    parser.add_argument("examples", type=os.path.abspath, help="directory of the built examples")
    parser.add_argument("names", nargs="*", help="programs to run; all without any")
    parser.add_argument("--path", type=os.path.abspath, help="directory of programs")
    parser.add_argument("--option", action="append", default=[],
                        help="one more option for memlag record")
    options = parser.parse_args()
    if options.path:
        os.environ["PATH"] = options.path + os.pathsep + os.environ["PATH"]
    stalls, times, perfect = Sums(), Sums(), 0
    print("| program | timer samples | stalls: first five | rho | time: first five | beside | rho |"
          " again | rho | load |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="memlag-machine-") as directory:
        for name, command in programs(options.examples, write_inputs(directory)):
            if options.names and name not in options.names:
                continue
            program = shutil.which(command[0])
            path = program and record(options, [program, *command[1:]], directory)
            if not path:
                print(f"| {name} | not recorded | | | | | | | | |", flush=True)
                continue
            load = os.getloadavg()[0]
            samples, by_stall, by_time, again = compare(path, name)
            perfect += again[0]
            stalls.add(*by_stall)
            times.add(*by_time)
            print(f"| {name} | {samples} | {by_stall[1]} of {by_stall[0]} | {number(by_stall[3])} |"
                  f" {by_time[1]} of {by_time[0]} | {by_time[2]} | {number(by_time[3])} |"
                  f" {again[0]:.1f} | {number(again[1])} | {load:.1f} |", flush=True)
    print(f"\nStalls: {stalls.text()}.\nTime: {times.text()}."
          f" A perfect model: {perfect:.0f} places.")


if __name__ == "__main__":
    main()
