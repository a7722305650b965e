# SPDX-License-Identifier: MIT
"""A chase through one line of each of N pages, repeatedly in random order, with TLB sizes that the
test sets. Counters and samples show for each load the result that N gives. A load takes the
preset's time, compared with the same lines without DTLB misses. If the pages do not all fit, each
set has more than twice as many pages as ways, so none stays until its next use."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "experiments"))
import bench_each  # noqa: E402
import experiment  # noqa: E402

MEMLAG, BENCH = os.environ["MEMLAG"], os.environ["BINARY_DIR"] + "/tests/integration/bench_each"
LINE_BYTES, PAGE_BYTES, MIB = 64, 4096, 1 << 20
STLB_CYCLES, WALK_CYCLES = 9, 30
TLB = {
    "dtlb.entries": 64, "dtlb.ways": 4, "dtlb.huge_entries": 32, "dtlb.huge_ways": 4,
    "stlb.entries": 1536, "stlb.ways": 12, "stlb.latency_cycles": STLB_CYCLES,
    "page_walk.latency_cycles": WALK_CYCLES,
}
CYCLES, STLB_HITS = "cpu_clk_unhalted.thread", "dtlb_load_misses.stlb_hit"
WALKS = "dtlb_load_misses.walk_completed"
FEW, MANY = 5, 25
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")


def chases(cases, changed):
    """Of one load of each of CASES, (lines, stride, pages): STLB hits, walks and cycles, by the
    counters; and the parts of the samples whose 'tlb' is 'stlb' and 'miss'."""
    options = ["--sim-cpu", "skylake-sp", "--sim-prefetch", "off", "--period", "101",
               "--ldlat", str(experiment.LDLAT_CYCLES)]
    for key, value in (TLB | changed).items():
        options += ["--sim-set", f"{key}={value}"]
    runs = [("chase", ["--size", lines * stride, "--stride", stride, "--pages", pages,
                       "--passes", passes])
            for lines, stride, pages in cases for passes in (FEW, MANY)]
    with bench_each.Recording(MEMLAG, BENCH, runs, options) as recording:
        for number, (lines, *_) in enumerate(cases):
            few, many = (recording.counters(2 * number + i) for i in (0, 1))
            gained = bench_each.gained(few, many, MANY - FEW)
            # The second half excludes the first, untimed pass.
            tlb = [row[0] for row in recording.rows(
                """SELECT tlb FROM sample_view JOIN process USING (pid)
                   WHERE function = 'chase_plain' AND process_id = ? ORDER BY time_ns""",
                (recording.processes[2 * number + 1],))]
            later = tlb[len(tlb) // 2:]
            yield [gained[name] / lines for name in (STLB_HITS, WALKS, CYCLES)] + \
                [later.count(kind) / len(later) for kind in ("stlb", "miss")]


statements = experiment.Statements()
APART = PAGE_BYTES + LINE_BYTES  # a line of each page, in all sets of the caches


HITS, STLB, WALK = (0, 0), (1, 0), (0, 1)  # the parts of the loads that hit the STLB and that walk
plain = None  # cycles of a load that misses no DTLB: the first case's
BOTH_SIZES = [("1024 lines in 16 pages", (1024, LINE_BYTES, "small"), HITS),
              ("1024 pages", (1024, APART, "small"), STLB),
              ("4096 pages", (4096, APART, "small"), WALK)]
if "[never]" not in HUGE_PAGES.read_text():
    BOTH_SIZES.append(("4096 lines in 9 huge pages", (4096, APART, "huge"), HITS))
for changed, cases in (
        ({}, BOTH_SIZES),
        ({"stlb.entries": 384}, [("1024 pages, STLB of 384", (1024, APART, "small"), WALK)]),
        ({"stlb.entries": 6144}, [("4096 pages, STLB of 6144", (4096, APART, "small"), STLB)])):
    for (what, (*_, pages), expected), (*counted, cycles, stlb, miss) in zip(
            cases, chases([case for _, case, _ in cases], changed)):
        for name, found, part in zip(
                ("STLB hits", "walks", "samples 'stlb'", "samples 'miss'"),
                (*counted, stlb, miss), (*expected, *expected)):
            statements.add(f"{what}: {name} of a load", abs(found - part) <= 0.02,
                           f"{found:.4f} ({part} within 0.02)")
        if plain is None:
            plain = cycles
        elif pages == "small":
            statements.near(f"{what}: cycles of a load more than without", cycles - plain,
                            expected[0] * STLB_CYCLES + expected[1] * WALK_CYCLES, 0.05)
sys.exit(1 if statements.failed else 0)
