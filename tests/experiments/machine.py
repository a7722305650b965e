# SPDX-License-Identifier: MIT
"""The default model beside the machine at hand: `memlag record --with-clock` with default
options on small examples and Debian's programs. Prints a Markdown table: of the first five
lines (functions, where a file has no lines) by measured time, how many are among the first
five by modelled stalls, and Spearman's rank correlation. No test: the figures are this
machine's."""
import argparse
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

FIRST = 5
MEASURED_MIN = 0.01  # of the CPU time; lines with less are left out

SQLITE = """
CREATE TABLE t (a INTEGER, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
INSERT INTO t SELECT i * 7919 % 40009, hex(i * 104729) FROM n;
CREATE INDEX t_a ON t (a);
SELECT count(*), sum(length(x.b)) FROM t AS x JOIN t AS y ON y.a = (x.a * 31) % 40009;
"""
PYTHON = """
words = {}
for i in range(60000):
    words.setdefault(str(i * 7919 % 20011), []).append(i)
print(sum(len(v) for v in words.values()))
"""
PERL = 'my %h; while (<>) { $h{$_}++ for split } print scalar(keys %h), "\\n"'
AWK = '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) c++; print c }'
C = "".join(f"int f{i}(int a, int *b) {{ for (int i = 0; i < a; i++) b[i] += i * {i};"
            f" return a > 3 ? f{max(i - 1, 0)}(a - 1, b) : b[0]; }}\n" for i in range(20))


def programs(examples, text):
    """Names and commands; TEXT is some MB of words."""
    return [
        ("example: chase", [f"{examples}/chase"]),
        ("example: columns", [f"{examples}/columns"]),
        ("example: contention", [f"{examples}/contention"]),
        ("example: false-sharing", [f"{examples}/false-sharing"]),
        ("gzip", ["gzip", "-6c", text]),
        ("xz", ["xz", "-1c", "-T1", text + ".small"]),
        ("bzip2", ["bzip2", "-c", text + ".small"]),
        ("zstd", ["zstd", "-5qc", text]),
        ("lz4", ["lz4", "-9qc", text]),
        ("sqlite3", ["sqlite3", ":memory:", SQLITE]),
        ("python3", ["/usr/bin/python3", "-c", PYTHON]),
        ("perl", ["perl", "-e", PERL, text]),
        ("mawk", ["mawk", AWK, text]),
        ("sort", ["sort", "--parallel=1", text]),
        ("gcc -O1", ["gcc", "-O1", "-c", "-o", "/dev/null", text + ".c"]),
        ("jq", ["jq", "-c", "group_by(.a) | map(length) | add", text + ".json"]),
    ]


def write_inputs(directory):
    """The same text each time: words as in a language, few of them often."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9)))
             for _ in range(30000)]
    lines = (" ".join(words[min(int(chance.paretovariate(0.6)) - 1, 29999)]
                      for _ in range(10)) for _ in range(45000))
    text = "\n".join(lines) + "\n"
    path = os.path.join(directory, "text")
    pathlib.Path(path).write_text(text)
    pathlib.Path(path + ".small").write_text(text[:700000])
    pathlib.Path(path + ".c").write_text(C)
    rows = ",".join(f'{{"a":{i * 7919 % 997},"b":"{i}"}}' for i in range(9000))
    pathlib.Path(path + ".json").write_text(f"[{rows}]")
    return path


def top(db, query):
    return [row for row in db.execute(query, (FIRST,))]


def compare(path):
    """(places, shared, correlation, unexplained, overrated, timer samples)"""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = "module, function, function_offset, file, line"
    measured = top(db, f"SELECT {names} FROM line_measured_view WHERE measured_ratio >="
                       f" {MEASURED_MIN} ORDER BY measured_ratio DESC, line_id LIMIT ?")
    stalled = top(db, f"SELECT {names} FROM line_measured_view WHERE stalled_ratio > 0"
                      " ORDER BY stalled_ratio DESC, line_id LIMIT ?")
    correlation, = db.execute("SELECT correlation FROM clock_agreement_finding"
                              " WHERE subject = 'line'").fetchone()
    kinds = dict(db.execute("SELECT agreement, count(*) FROM line_measured_view"
                            " WHERE agreement IS NOT NULL GROUP BY 1"))
    samples, = db.execute("SELECT sum(samples) FROM clock_sample").fetchone()
    return (len(measured), len(set(measured) & set(stalled)), correlation,
            kinds.get("unexplained", 0), kinds.get("overrated", 0), samples)


def record(memlag, command, directory):
    path = os.path.join(directory, "run.db")
    done = subprocess.run([memlag, "record", "--force", "--with-clock", "-o", path, "--", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"{command[0]}: status {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
    return path if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memlag", type=os.path.abspath)
    parser.add_argument("examples", type=os.path.abspath, help="directory of the built examples")
    parser.add_argument("names", nargs="*", help="programs to run; all without any")
    options = parser.parse_args()
    places = shared = good = compared = 0
    print("| program | timer samples | first five in common | Spearman | unexplained | overrated |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="memlag-machine-") as directory:
        for name, command in programs(options.examples, write_inputs(directory)):
            if options.names and name not in options.names:
                continue
            path = shutil.which(command[0]) and record(options.memlag, command, directory)
            if not path:
                print(f"| {name} | | not recorded | | | |", flush=True)
                continue
            count, same, correlation, unexplained, overrated, samples = compare(path)
            places, shared, compared = places + count, shared + same, compared + 1
            good += correlation is not None and correlation >= 0.8
            shown = "-" if correlation is None else f"{correlation:.2f}"
            print(f"| {name} | {samples} | {same} of {count} | {shown} | {unexplained} |"
                  f" {overrated} |", flush=True)
    print(f"\n{shared} of {places} places in common"
          f" ({100 * shared / max(places, 1):.0f} %); rank correlation of at least 0.8:"
          f" {good} of {compared} programs.")


if __name__ == "__main__":
    main()
