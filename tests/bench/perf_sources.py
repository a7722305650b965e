#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of recording through perf events, compared with perf record and the limits.

A program is busy on every CPU. It runs under 'memlag record --source clock' and under 'perf record'
with the same event, 20 000 times a second on each CPU, in turns. Prints the CPU time of the program
itself, and of the recorder. memlag's time ends when it reports that the database is written. perf
record makes neither names nor a report. Starting and ending costs perf more, and a sample costs
memlag more, as it becomes a row: the ratio depends on the length of the program. A program that
ends at once separates both. Nothing here fails because a machine is slow."""
import argparse
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import tempfile

BUSY = """
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static void *work(void *unused)
{
        volatile unsigned long sum = 0;
        for (unsigned long i = 0; i < ROUNDS; i++)
                sum += i * i;
        return unused;
}
int main(void)
{
        pthread_t threads[64];
        long count = sysconf(_SC_NPROCESSORS_ONLN);
        for (long i = 0; i < count && i < 64; i++)
                pthread_create(&threads[i], NULL, work, NULL);
        for (long i = 0; i < count && i < 64; i++)
                pthread_join(threads[i], NULL);
        struct timespec used;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        printf("%ld.%09ld\\n", (long)used.tv_sec, used.tv_nsec);
        return 0;
}
"""
HZ = 20000


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command):
    """CPU seconds of the busy program, and of what ran around it."""
    before = cpu_of_children()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    program = float(done.stdout.split()[-1])
    return program, cpu_of_children() - before - program


def run_memlag(command):
    """The same, the recorder's until it has written the database."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    recorder = None
    for line in process.stderr:
        if "wrote" in line:
            on_cpu_ns = pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]
            recorder = int(on_cpu_ns) / 1e9
    program = float(process.stdout.read().split()[-1])
    if process.wait() or recorder is None:
        raise SystemExit(f"failed: {' '.join(command)}")
    return program, recorder


def row(name, value, limit, note=""):
    print(f"{name:<52} {value:>12.2f} {limit:>12} {note}")


def answer(database, sql):
    with sqlite3.connect(database) as connection:
        return connection.execute(sql).fetchone()[0]


def build_busy(directory, name, loops):
    source = directory / "busy.c"
    program = str(directory / name)
    source.write_text(BUSY)
    subprocess.run(
        ["cc", "-O1", "-pthread", f"-DROUNDS={loops}ul", "-o", program, source], check=True
    )
    return program


def compare_with_perf(memlag, rounds, directory):
    busy = build_busy(directory, "busy", 2000000000)
    idle = build_busy(directory, "idle", 1)
    database = directory / "clock.db"
    ours = [memlag, "record", "--source", "clock", "--freq", str(HZ), "--force", "-o"]
    ours += [str(database), "--"]
    # The same registers in each sample, and the same call stacks.
    registers = "ax,bx,cx,dx,si,di,bp,sp,ip,r8,r9,r10,r11,r12,r13,r14,r15"
    theirs = ["perf", "record", "-q", "-e", "cpu-clock:u", "-c", str(10**9 // HZ), "-d"]
    theirs += ["--user-regs=" + registers, "-o", str(directory / "perf.data"), "--"]
    alone, with_memlag, with_perf, idle_memlag, idle_perf = [], [], [], [], []
    for _ in range(rounds):
        alone.append(run([busy])[0])
        idle_memlag.append(run_memlag([*ours, idle])[1])
        idle_perf.append(run([*theirs, idle])[1])
        with_perf.append(run([*theirs, busy]))
        with_memlag.append(run_memlag([*ours, busy]))
    plain = statistics.median(alone)
    took = [statistics.median(p for p, _ in runs) for runs in (with_memlag, with_perf)]
    cost = [statistics.median(r for _, r in runs) for runs in (with_memlag, with_perf)]
    start = [statistics.median(runs) for runs in (idle_memlag, idle_perf)]
    sample = [(c - s) / (t * HZ) * 1e6 for c, s, t in zip(cost, start, took)]
    row("time of the program under memlag, alone = 1", took[0] / plain,
        f"{took[1] / plain:.2f}", "limit: perf")
    row("CPU seconds of memlag, recording", cost[0], f"{cost[1]:.2f}", "limit: perf")
    row("  of these, to start and end", start[0], f"{start[1]:.2f}", "beside perf")
    row("  CPU microseconds a sample", sample[0], f"{sample[1]:.2f}", "beside perf")
    row("samples", answer(database, "SELECT count(*) FROM sample"), "")
    lost = answer(database, "SELECT total(value) FROM ledger WHERE kind LIKE '%lost%'")
    row("records lost", lost, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("memlag", help="the program, for instance build/bin/memlag")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind (3)")
    options = parser.parse_args()
    memlag = os.path.abspath(options.memlag)
    print(f"{'':<52} {'value':>12} {'limit':>12}")
    with tempfile.TemporaryDirectory(prefix="memlag-bench-") as name:
        directory = pathlib.Path(name)
        compare_with_perf(memlag, options.rounds, directory)


if __name__ == "__main__":
    main()
