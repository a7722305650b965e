#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What kinds of wait are called: false sharing, on the line and object that are fought
for, and a stride that the TLB does not reach. (Remote memory and the same for whole
programs: tests/integration/examples.sh.)"""
import experiment

CPU = "haswell-ep"


def measure(memlag, kernel, options):
    return experiment.Recording(memlag, kernel, options, cpu=CPU,
                                record=["--period", "199"])


def tlb(statements, memlag):
    """4033 lines, each on a page of its own: in L2 and L3, and beyond the STLB's 1024
    pages; then as many lines side by side."""
    passes = ["--passes", 60]
    strided = measure(memlag, "tlb", ["--size", "16M", *passes])
    statements.equal("tlb, stride of a page and a line: verdict",
                     strided.verdicts("chase_plain%"), ["tlb"])
    side_by_side = measure(memlag, "chase", ["--size", "252K", "--pages", "small", *passes])
    statements.equal("chase of as many lines side by side: verdict is tlb",
                     "tlb" in side_by_side.verdicts("chase_plain%"), False)


def sharing(statements, memlag):
    run = measure(memlag, "false-sharing", ["--passes", 1000])
    counts = dict(run.rows("SELECT snoop, count(*) FROM sample_view"
                           " WHERE function IN ('run_false', 'add') GROUP BY snoop"))
    statements.at_least("false sharing: part of the line's samples that are HITM",
                        counts.get("hitm", 0) / max(1, sum(counts.values())), 0.9)
    line = run.rows("SELECT DISTINCT verdict FROM line_view"
                    " WHERE function IN ('run_false', 'add')")
    statements.equal("false sharing: verdict of the line", line, [("sharing",)])
    objects = run.rows("SELECT object_kind, alloc_function FROM object_view"
                       " WHERE verdict = 'sharing'")
    statements.add("false sharing: the one object is the line that measure.c allocates",
                   len(objects) == 1 and objects[0][0] == "heap" and
                   objects[0][1].startswith("measure"), str(objects))


def short(memlag, statements):
    tlb(statements, memlag)
    sharing(statements, memlag)


def full(memlag, statements, directory):
    del directory
    short(memlag, statements)


if __name__ == "__main__":
    experiment.run(__doc__, short, full)
