#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time of each report and each query of the library, for a recording and one with about eight
times its rows. The program allocates a tree by recursion, each node on a different path of calls.
Times grow no faster than the rows, except for sorting. Not a test."""
import argparse
import contextlib
import os
import pathlib
import resource
import sqlite3
import subprocess
import tempfile

SOURCE = """
#include <stdlib.h>
struct tree { struct tree *left, *right; long key; };
__attribute__((noinline)) static struct tree *grow(int depth)
{
        struct tree *t = depth ? malloc(sizeof(*t)) : NULL;
        if (t)
                *t = (struct tree){grow(depth - 1), grow(depth - 1), depth};
        return t;
}
__attribute__((noinline)) static long sum(const struct tree *t)
{
        return t ? t->key + sum(t->left) + sum(t->right) : 0;
}
int main(int argc, char **argv)
{
        struct tree *t = grow(atoi(argv[1]));
        long all = 0;
        for (int i = 0; i < 20; i++)
                all += sum(t);
        return all == argc;
}
"""
KINDS = ["line", "function", "object", "caller", "allocation", "type", "cacheline", "thread",
         "process", "interval", "phase", "line-use"]
# With fewer than eleven levels the tree is in the caches, and its blocks have no samples.
DEPTHS = 14, 17
MOST_TIMES_ROWS = 2
# Below that, starting takes most of the time.
LEAST_S = 0.05


def cpu_s(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_of(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT (SELECT count(*) FROM sample)"
                                  " + (SELECT count(*) FROM object_stack)").fetchone()[0]


def recordings(memlag, directory):
    program = pathlib.Path(directory, "tree")
    subprocess.run(["cc", "-O1", "-g", "-x", "c", "-", "-o", program], input=SOURCE, text=True,
                   check=True)
    for depth in DEPTHS:
        path = os.path.join(directory, f"{depth}.db")
        subprocess.run([memlag, "record", "--source", "sim", "--period", "97", "-o", path, "--",
                        program, str(depth)], check=True, capture_output=True)
        yield path


def commands_of(memlag):
    names = subprocess.run([memlag, "query", "--list"], check=True, capture_output=True,
                           text=True).stdout
    return ([["report"], ["report", "--by", "object", "--cache-sizes"]]
            + [["report", "--by", kind] for kind in KINDS]
            + [["query", "--name", line.split()[0], "-i"] for line in names.splitlines()])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memlag")
    memlag = os.path.abspath(parser.parse_args().memlag)
    slow = 0
    with tempfile.TemporaryDirectory(prefix="memlag-bench-") as directory:
        paths = list(recordings(memlag, directory))
        times_rows = rows_of(paths[1]) / rows_of(paths[0])
        print(f"{times_rows:.1f} times the rows")
        for command in commands_of(memlag):
            few, many = (cpu_s([memlag, *command, path]) for path in paths)
            bad = many > MOST_TIMES_ROWS * times_rows * max(few, LEAST_S)
            slow += bad
            print(f"{'slow' if bad else 'ok  '} {' '.join(command)}: {few:.2f} s, {many:.2f} s",
                  flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
