#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records threads and forks without end: 'memlag record --source clock' at 20 000 Hz.

The recorder's memory and descriptors must not grow, and its samples and losses together
must be what the kernel's timers produced: the target's CPU time, which the kernel counts by
itself, times the frequency. Memory grows with the largest burst of records that wait for their
order (perf/order.c), up to SQLite's cache of 2 MB, and by a few hundred bytes for each process
and thread of the run.
"""
import argparse
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import tempfile
import time

TARGET = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void *work(void *ring)
{
        void **at = ring;
        for (int i = 0; i < 2000000; i++)
                at = *at;
        return at;
}
int main(int argc, char **argv)
{
        enum { SLOTS = 1 << 18, THREADS = 4, CHILDREN = 2 };
        static void *ring[SLOTS];
        double end = now() + (argc > 1 ? atof(argv[1]) : 1);
        for (unsigned i = 0; i < SLOTS; i++)
                ring[i] = &ring[(i * 12289u + 7) % SLOTS];
        while (now() < end) {
                pthread_t threads[THREADS];
                for (int i = 0; i < CHILDREN; i++)
                        if (fork() == 0) {
                                work(ring);
                                _exit(0);
                        }
                for (int i = 0; i < THREADS; i++)
                        pthread_create(&threads[i], NULL, work, ring);
                for (int i = 0; i < THREADS; i++)
                        pthread_join(threads[i], NULL);
                while (wait(NULL) > 0)
                        ;
        }
        return 0;
}
"""
HZ = 20000


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise ProcessLookupError


def watch(recorder, until):
    """(seconds, KiB of its own memory, descriptors) of the recorder while the target runs."""
    began, seen = time.monotonic(), []
    while time.monotonic() - began < until and recorder.poll() is None:
        try:
            seen.append((time.monotonic() - began, resident_kib(recorder.pid),
                         len(os.listdir(f"/proc/{recorder.pid}/fd"))))
        except OSError:
            break
        time.sleep(1)
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("memlag")
    parser.add_argument("seconds", nargs="?", type=float, default=600)
    arguments = parser.parse_args()
    memlag = pathlib.Path(arguments.memlag).resolve()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        pathlib.Path("target.c").write_text(TARGET)
        subprocess.run(["cc", "-O1", "-pthread", "target.c", "-o", "target"], check=True)
        recorder = subprocess.Popen(
            [memlag, "record", "--source", "clock", "--freq", str(HZ), "--no-heap", "--call-graph",
             "none", "--", "/bin/sh", "-c", f"./target {arguments.seconds}; times >used"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        seen = watch(recorder, arguments.seconds)
        messages = recorder.stderr.read()
        if recorder.wait() != 0:
            raise SystemExit(f"soak: record ends with {recorder.returncode}: {messages}")
        database = sqlite3.connect("memlag.db")
        samples, = database.execute("SELECT count(*) FROM sample").fetchone()
        lost, = database.execute("SELECT total(value) FROM ledger WHERE stage = 'record'"
                                 " AND unit IN ('samples', 'records') AND kind NOT LIKE"
                                 " 'timer samples%'").fetchone()
        processes, = database.execute("SELECT count(*) FROM process").fetchone()
        threads, = database.execute("SELECT count(*) FROM thread").fetchone()
        ledger = database.execute("SELECT kind, value, unit FROM ledger"
                                  " WHERE stage = 'record'").fetchall()
        # The shell's second line is of its children; samples are of their user time.
        minutes, seconds = pathlib.Path("used").read_text().splitlines()[1].split()[0].split("m")
        used = int(minutes) * 60 + float(seconds.rstrip("s"))
    half = len(seen) // 2
    memory = [statistics.median(kib for _, kib, _ in part) for part in
              (seen[half // 2:half], seen[-(half // 2):])]
    descriptors = [max(count for _, _, count in part) for part in (seen[:half], seen[half:])]
    print(f"{arguments.seconds:.0f} s, {processes} processes, {threads} threads,"
          f" {samples} samples, {lost:.0f} lost, target used {used:.1f} CPU s")
    print(f"stored + lost: {(samples + lost) / (used * HZ):.4f} of {HZ} a CPU second")
    print(f"recorder's memory: {memory[0]:.0f} KiB in the second quarter,"
          f" {memory[1]:.0f} KiB in the last: {(memory[1] - memory[0]) * 1024 / max(processes + threads, 1):.0f}"
          " bytes for each process and thread of the run")
    print(f"descriptors: at most {descriptors[0]}, then {descriptors[1]}")
    for row in ledger:
        print("ledger:", *row)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"all CPU time: {usage.ru_utime + usage.ru_stime:.1f} s")


if __name__ == "__main__":
    main()
