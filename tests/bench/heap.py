#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of the heap tracker for native programs, compared with heaptrack.

Runs jobs that allocate much: alone, with memlag's tracker and its consumer, and under heaptrack
(--raw: it interprets nothing), in turns. Prints the medians of the CPU and wall seconds of all
processes, and memlag's over heaptrack's, which is to be at most 1. With --whole, both do all their
default work: memlag records with the timer, finds names and reports, and heaptrack interprets.

    heap.py build/bin/heap_consume [--whole build/bin/memlag] [--rounds N]"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON_JOB = """
import json
records = [{'a': [i, str(i), {'x': i * 1.5}]} for i in range(60000)]
for _ in range(3):
    json.loads(json.dumps(records))
"""

THREADS_JOB = """
#include <pthread.h>
#include <stdlib.h>
static void *run(void *seed)
{
        void *kept[64] = {0};
        unsigned state = (unsigned)(size_t)seed;
        for (int i = 0; i < 400000; i++) {
                state = state * 1664525 + 1013904223;
                free(kept[state >> 26]);
                kept[state >> 26] = malloc(16 + (state >> 8) % 1000);
        }
        return NULL;
}
int main(void)
{
        pthread_t threads[8];
        for (size_t i = 0; i < 8; i++)
                pthread_create(&threads[i], NULL, run, (void *)(i + 1));
        for (int i = 0; i < 8; i++)
                pthread_join(threads[i], NULL);
        return 0;
}
"""

MAP_JOB = """
#include <map>
#include <string>
int main()
{
        std::map<std::string, std::string> map;
        unsigned state = 1;
        size_t found = 0;
        for (int i = 0; i < 400000; i++) {
                state = state * 1664525 + 1013904223;
                std::string key = "a key that is too long to be kept inside "
                                  + std::to_string(state >> 14);
                if (state & 1)
                        map[key] = key + " and its value";
                else
                        found += map.erase(key);
        }
        return found == 0;
}
"""

# Most of its allocations have a call stack of their own.
TREE_JOB = """
#include <stdlib.h>
#include <string.h>
struct node {
        struct node *left, *right;
        long key;
        char *text;
};
static struct node *insert(struct node *tree, long key)
{
        if (!tree) {
                tree = calloc(1, sizeof(*tree));
                tree->key = key;
                tree->text = strdup("some text of a node");
                return tree;
        }
        if (key < tree->key)
                tree->left = insert(tree->left, key);
        else
                tree->right = insert(tree->right, key);
        return tree;
}
static void delete(struct node *tree)
{
        if (!tree)
                return;
        delete(tree->left);
        delete(tree->right);
        free(tree->text);
        free(tree);
}
int main(void)
{
        unsigned state = 1;
        for (int round = 0; round < 30; round++) {
                struct node *tree = NULL;
                for (int i = 0; i < 15000; i++) {
                        state = state * 1103515245 + 12345;
                        tree = insert(tree, state >> 8);
                }
                delete(tree);
        }
        return 0;
}
"""


def make_jobs(directory):
    (directory / "job.py").write_text(PYTHON_JOB)
    jobs = [("python3", ["/usr/bin/python3", str(directory / "job.py")])]
    for job, source, text, *compiler in (("C++ map", "map.cc", MAP_JOB, "c++", "-O2"),
                                         ("8 threads", "threads.c", THREADS_JOB, "cc", "-O1", "-pthread"),
                                         ("tree, many stacks", "tree.c", TREE_JOB, "cc", "-g", "-O0")):
        (directory / source).write_text(text)
        program = str((directory / source).with_suffix(""))
        subprocess.run([*compiler, "-o", program, directory / source], check=True)
        jobs.append((job, [program]))
    return jobs


def cost(command, directory):
    """CPU and wall seconds of COMMAND and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, check=True, cwd=directory, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONMALLOC": "malloc"})
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def ways_to_run(command, options, directory):
    """Alone, with memlag and with heaptrack."""
    heaptrack = ["heaptrack", "-o", str(directory / "heaptrack")]
    if not options.whole:
        return [command, [os.path.abspath(options.consume), "", *command],
                [*heaptrack, "--raw", *command]]
    record = [os.path.abspath(options.whole), "record", "--source", "clock", "--force",
              "-o", str(directory / "run.db"), "--", *command]
    return [command, record, [*heaptrack, *command]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("consume", help="build/bin/heap_consume")
    parser.add_argument("--whole", metavar="MEMLAG", help="build/bin/memlag")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind (5)")
    options = parser.parse_args()
    if not shutil.which("heaptrack"):
        sys.exit("heap.py: heaptrack is not installed; there is nothing to compare with")
    print(f"{'job, seconds':<24} {'alone':>8} {'memlag':>8} {'heaptrack':>10} {'ratio':>7} {'limit':>6}")
    with tempfile.TemporaryDirectory(prefix="memlag-bench-") as name:
        directory = pathlib.Path(name)
        for job, command in make_jobs(directory):
            ways = ways_to_run(command, options, directory)
            costs = [[], [], []]
            for _ in range(options.rounds):
                for way, found in zip(ways, costs):
                    found.append(cost(way, directory))
            for index, kind in enumerate(("CPU", "wall")):
                alone, memlag, heaptrack = (
                    statistics.median(found[index] for found in way) for way in costs)
                print(f"{job + ', ' + kind:<24} {alone:>8.2f} {memlag:>8.2f} {heaptrack:>10.2f}"
                      f" {memlag / heaptrack:>7.2f} {1:>6}")


if __name__ == "__main__":
    main()
