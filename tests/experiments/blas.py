#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""B20's kernels with known traffic, DDOT, DGEMV and DGEMM, on data outside of the caches: the bytes
that DRAM reads and writes equal the formulas."""
import math

import experiment

CPU = "skylake-sp"
HEADER = ["kernel", "n", "expected_read_bytes", "read_bytes", "expected_write_bytes",
          "write_bytes"]


def n_of(kernel, size_bytes):
    """Elements of a vector or of a matrix's side that SIZE_BYTES hold, in whole lines."""
    doubles = size_bytes / 8
    sides = {"ddot": doubles / 2, "dgemv": math.sqrt(doubles + 1) - 1,
             "dgemm": math.sqrt(doubles / 3)}
    return int(sides[kernel]) // 8 * 8


def formulas(kernel, n):
    """B20: bytes read, and bytes written at least and at most."""
    return {
        "ddot": (16 * n, 0, 0),
        "dgemv": (8 * (n * n + 2 * n), 8 * n, 64 * n),
        "dgemm": (8 * 3 * n * n, 8 * n * n, 64 * n * n),
    }[kernel]


def measure(memlag, kernel, kib):
    n = n_of(kernel, kib << 10)
    # A second pass still pushes lines out that the program wrote before the first.
    gained = experiment.per_pass(memlag, kernel, ["--size", f"{kib}K"], 2, 4, cpu=CPU,
                                 record=["--no-heap", "--period", "100000"])
    return kernel, n, gained["dram.read_bytes"], gained.get("dram.write_bytes", 0)


def state(statements, point):
    kernel, n, read, written = point
    expected_read, least, most = formulas(kernel, n)
    where = f"{kernel}, N = {n}: bytes "
    statements.near(where + "read", read, expected_read, 0.05)
    # The program around it writes a few lines, too.
    slack = 0.001 * expected_read
    statements.add(where + "written",
                   0.95 * least <= written <= 1.05 * most + slack,
                   f"{written:.6g} ({least} to {most})")


def short(memlag, statements):
    for kernel, kib in (("ddot", 2048), ("dgemv", 2048), ("dgemm", 128)):
        state(statements, measure(memlag, kernel, kib))


def full(memlag, statements, directory):
    sizes = {"ddot": (64, 512, 4096, 32768, 131072), "dgemv": (64, 512, 4096, 32768, 131072),
             "dgemm": (64, 256, 1024, 4096)}
    points = [measure(memlag, kernel, kib) for kernel, all_kib in sizes.items() for kib in all_kib]
    for point in points:
        state(statements, point)
    rows = []
    for kernel, n, read, written in points:
        expected_read, least, _ = formulas(kernel, n)
        rows.append([kernel, n, expected_read, f"{read:.0f}", least, f"{written:.0f}"])
    experiment.write_csv(directory / "blas.csv", HEADER, rows)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
