# SPDX-License-Identifier: MIT
"""A chase through one line of each of N pages, in random order over and over, with sizes of
the TLB that the test gives: counters and samples tell of each load what its N says, and a
load takes what the preset has for that, beside the same lines where none misses the DTLB.
Where they do not all fit, each set has more than twice as many pages as ways, so that none
stays until its next use."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "experiments"))
import experiment  # noqa: E402

MEMLAG, = sys.argv[1:]
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


def chase(lines, stride, pages, changed):
    """Of one load: STLB hits, walks and cycles, by the counters; and the parts of the samples
    whose 'tlb' is 'stlb' and 'miss'."""
    settings = {"cpu": "skylake-sp", "record": ["--no-heap", "--period", "101"]}
    for key, value in (TLB | changed).items():
        settings["record"] += ["--sim-set", f"{key}={value}"]
    options = ["--size", lines * stride, "--stride", stride, "--pages", pages]
    short, run = (experiment.Recording(MEMLAG, "chase", [*options, "--passes", passes],
                                       **settings) for passes in (FEW, MANY))
    before, after = short.counters(), run.counters()
    # The first pass, of those that are not timed, is left out by the half.
    tlb = [row[0] for row in run.rows(
        "SELECT tlb FROM sample_view WHERE function = 'chase_plain' ORDER BY time_ns")]
    later = tlb[len(tlb) // 2:]
    return [(after[name] - before.get(name, 0)) / (MANY - FEW) / lines
            for name in (STLB_HITS, WALKS, CYCLES)] + \
        [later.count(kind) / len(later) for kind in ("stlb", "miss")]


statements = experiment.Statements()
APART = PAGE_BYTES + LINE_BYTES  # a line of each page, in all sets of the caches


def expect(what, lines, stride, pages, expected, plain_cycles=None, changed={}):
    """EXPECTED: the parts of the loads that hit the STLB and that walk."""
    *counted, cycles, stlb, miss = chase(lines, stride, pages, changed)
    for name, found, part in zip(("STLB hits", "walks", "samples 'stlb'", "samples 'miss'"),
                                 (*counted, stlb, miss), (*expected, *expected)):
        statements.add(f"{what}: {name} of a load", abs(found - part) <= 0.02,
                       f"{found:.4f} ({part} within 0.02)")
    if plain_cycles is not None:
        statements.near(f"{what}: cycles of a load more than without",
                        cycles - plain_cycles,
                        expected[0] * STLB_CYCLES + expected[1] * WALK_CYCLES, 0.05)
    return cycles


HITS, STLB, WALK = (0, 0), (1, 0), (0, 1)
plain = expect("1024 lines in 16 pages", 1024, LINE_BYTES, "small", HITS)
expect("1024 pages", 1024, APART, "small", STLB, plain)
expect("1024 pages, STLB of 384", 1024, APART, "small", WALK, plain, {"stlb.entries": 384})
expect("4096 pages", 4096, APART, "small", WALK, plain)
expect("4096 pages, STLB of 6144", 4096, APART, "small", STLB, plain,
       {"stlb.entries": 6144})
if "[never]" not in HUGE_PAGES.read_text():
    expect("4096 lines in 9 huge pages", 4096, APART, "huge", HITS)
sys.exit(1 if statements.failed else 0)
