#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The default model compared with this machine: `memlag record --with-clock` with default options
on small examples and common programs, which need debug information (--path DIR finds them before
PATH). Prints a Markdown table. Each program's first five lines by measured time are compared in two
ways:

stalls: with the first five by modelled stalls, as reports rank them. Lines that compute have
    time and no stall, so this is no fair comparison for them.
time: with the first five by modelled time (modelled_ratio): stalls, and a part of the other
    cycles, by the line's share of executed instructions and wrong predictions.

Lines of one file and number are one here, regardless of the functions they were inlined into.
Without line numbers each function counts as a line. A line next to one of the other five counts as
common in "beside": a timer sample can be on the next line. rho is Spearman's rank correlation over
the first ten of both lists.

A single run's samples leave the order of similar lines to chance. The same comparison is therefore
made with the samples of more runs under the timer alone (--runs), together. "again" is the result
of a perfect model: the mean of the comparisons of the other runs with the first, and the comparison
of one half of them with the other half. If "again" is below 0.8, no model can reach 0.8. "lines" is
the number of lines in a correlation; few lines say little. "sure" counts the pairs of these lines
whose order all runs together show (their shares differ by 1.96 standard errors), and the pairs that
the model has in that order.

--keep DIR keeps recordings, and uses the ones that are there. No test: the figures are this
machine's, and the load average says how busy it was."""
import argparse
import collections
import itertools
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

FIRST, RANKED = 5, 10
GOOD = 0.8  # rank correlation
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
# The simulated CPU has no AVX-512: glibc must not choose other functions without it.
TUNABLES = "glibc.cpu.hwcaps=-AVX512VL,-AVX512BW,-AVX512F"
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
    """The same text each time: words as in a language, a few of them frequent."""
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
    """(places, in common, in common or beside, rank correlation or None, its lines)"""
    five, others = first(measured), first(model)
    lines = list(dict.fromkeys(first(measured, RANKED) + first(model, RANKED)))
    sides = [ranks([side.get(line, 0) for line in lines]) for side in (measured, model)]
    rho = (correlation(*sides)
           if len(lines) >= 3 and all(len(set(side)) > 1 for side in sides) else None)
    return (len(five), sum(line in others for line in five),
            sum(near(line, others) for line in five), rho, len(lines))


def sure_pairs(measured, model, samples):
    """(pairs of lines whose measured order is no chance, pairs that MODEL has in that order)"""
    lines = set(first(measured, RANKED) + first(model, RANKED))
    pairs = right = 0
    for a, b in itertools.combinations(lines, 2):
        one, other = measured.get(a, 0), measured.get(b, 0)
        if (one - other) ** 2 * samples > 1.96 ** 2 * (one + other):
            pairs += 1
            right += (one - other) * (model.get(a, 0) - model.get(b, 0)) > 0
    return pairs, right


def timed(path):
    """Timer samples by line of a recording by the timer alone."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    counts = collections.Counter()
    for place, line, samples in db.execute(
            "SELECT coalesce(file, path), coalesce(line, function, function_offset), count(*)"
            " FROM sample JOIN sample_location USING (sample_id) JOIN location AS l"
            " USING (location_id) LEFT JOIN module AS m ON m.module_id = l.module_id"
            " GROUP BY 1, 2"):
        counts[base(place), line] += samples
    return counts


def of_all(counts):
    """Shares by line of the COUNTS of several runs, and the number of samples."""
    both = sum(counts, collections.Counter())
    return {line: samples / both.total() for line, samples in both.items()}, both.total()


def mean(values):
    return sum(values) / len(values) if values else None


def record(options, command, path, source):
    """Whether PATH has a recording of COMMAND, or had one."""
    if os.path.exists(path):
        return True
    done = subprocess.run([options.memlag, "record", *source, *options.option,
                           "-o", path, "--", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"{command[0]}: status {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
    return done.returncode == 0


def record_all(options, command, stem):
    """Paths of the recording with the model, and of the recordings by the timer alone; None:
    failed"""
    model = stem + ".db"
    runs = [f"{stem}.clock{i}.db" for i in range(options.runs)]
    done = [record(options, command, path, ["--source", "clock"]) for path in runs]
    done += [record(options, command, model, ["--with-clock"])]
    return (model, runs) if all(done) else None


def show(name, measured, stalled, model):
    for line in dict.fromkeys(first(measured) + first(model) + first(stalled)):
        print(f"  {name} {line[0]}:{line[1]}: measured {measured.get(line, 0):.3f},"
              f" modelled {model.get(line, 0):.3f}, stalled {stalled.get(line, 0):.3f}",
              file=sys.stderr)


def compare(model, runs, name):
    measured, stalled, modelled, samples = shares(model)
    show(name, measured, stalled, modelled)
    counts = [timed(run) for run in runs]
    reference, total = of_all(counts)
    halves = [of_all(counts[start::2])[0] for start in (0, 1)]
    return {"samples": samples,
            "stalls": agreement(measured, stalled),
            "time": agreement(measured, modelled),
            "again": [agreement(measured, of_all([each])[0]) for each in counts],
            "all": agreement(reference, modelled),
            "halves": agreement(*halves),
            "sure": sure_pairs(reference, modelled, total)}


def number(rho):
    return "-" if rho is None else f"{rho:.2f}"


class Sums:
    """Over all programs, in one of the ways."""

    def __init__(self):
        self.places = self.common = self.beside = self.good = self.ranked = 0

    def add(self, places, common, beside, rho, _):
        self.places, self.common = self.places + places, self.common + common
        self.beside += beside
        self.ranked += rho is not None
        self.good += rho is not None and rho >= GOOD

    def text(self):
        percent = 100 / max(self.places, 1)
        return (f"{self.common} of {self.places} places ({percent * self.common:.0f} %),"
                f" {self.beside} with lines beside ({percent * self.beside:.0f} %), rank"
                f" correlation of at least {GOOD} in {self.good} of {self.ranked}")


class Table:
    """Rows as they come, and the sums over them."""
    WAYS = ("stalls", "time", "all", "halves")

    def __init__(self):
        self.sums = {way: Sums() for way in self.WAYS}
        self.again = Sums()
        self.pairs = self.right = 0
        self.reached = {"time": [0, 0], "all": [0, 0]}  # by the model, of those that runs reach
        print("| program | timer samples | stalls: first five | rho | time: first five | beside |"
              " rho | again | rho | all runs: first five | rho | again | rho | lines | sure |"
              " right | load |")
        print("|---|" + "---:|" * 16)

    def add(self, name, found):
        for way, sums in self.sums.items():
            sums.add(*found[way])
        for each in found["again"]:
            self.again.add(*each)
        self.pairs, self.right = (self.pairs + found["sure"][0], self.right + found["sure"][1])
        again = mean([each[1] for each in found["again"]])
        again_rho = mean([each[3] for each in found["again"] if each[3] is not None])
        for way, ceiling in (("time", again_rho), ("all", found["halves"][3])):
            if ceiling is not None and ceiling >= GOOD:
                self.reached[way][0] += (found[way][3] or 0) >= GOOD
                self.reached[way][1] += 1
        cells = [name, found["samples"]]
        for way in self.WAYS:
            places, common, beside, rho, _ = found[way]
            cells += [f"{common} of {places}"] + [beside] * (way == "time") + [number(rho)]
            cells += [f"{again:.1f}", number(again_rho)] if way == "time" else []
        print("|", " | ".join(str(cell) for cell in [*cells, found["all"][4], *found["sure"]]),
              f"| {os.getloadavg()[0]:.1f} |", flush=True)

    def end(self):
        for way, text in (("stalls", "Stalls"), ("time", "Time"), ("all", "Time, all runs"),
                          ("halves", "One half of the runs beside the other")):
            print(f"\n{text}: {self.sums[way].text()}.")
        print(f"\nSingle runs beside the first: {self.again.text()}.")
        for way, text in (("time", "first run"), ("all", "runs together")):
            print(f"\n{text.capitalize()}: {self.reached[way][1]} programs where other runs reach"
                  f" {GOOD}; the model does in {self.reached[way][0]} of them.")
        print(f"\nPairs of sure order: {self.right} of {self.pairs} right.")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memlag", type=os.path.abspath)
    parser.add_argument("examples", type=os.path.abspath, help="directory of the built examples")
    parser.add_argument("names", nargs="*", help="programs to run; all without any")
    parser.add_argument("--path", type=os.path.abspath, help="directory of programs")
    parser.add_argument("--runs", type=int, default=8, help="runs under the timer alone (8)")
    parser.add_argument("--keep", type=os.path.abspath, help="directory of recordings")
    parser.add_argument("--option", action="append", default=[],
                        help="one more option for memlag record")
    options = parser.parse_intermixed_args()
    if options.path:
        os.environ["PATH"] = options.path + os.pathsep + os.environ["PATH"]
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    os.environ["GLIBC_TUNABLES"] = TUNABLES
    table = Table()
    with tempfile.TemporaryDirectory(prefix="memlag-machine-") as scratch:
        for name, command in programs(options.examples, write_inputs(scratch)):
            if options.names and name not in options.names:
                continue
            program = shutil.which(command[0])
            stem = os.path.join(options.keep or scratch, name.removeprefix("example: "))
            paths = program and record_all(options, [program, *command[1:]], stem)
            if paths:
                table.add(name, compare(*paths, name))
            else:
                print(f"| {name} | not recorded |" + " |" * 15, flush=True)
    table.end()


if __name__ == "__main__":
    main()
