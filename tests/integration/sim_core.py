# SPDX-License-Identifier: MIT
"""Counters per step of sim_core's kernels, compared with the expected ones."""
import functools
import heapq
import os
import sqlite3
import subprocess
import sys

STEPS = 50000
MANY = 4000000  # where branches are predicted in windows only
MEMLAG, PROGRAM = os.environ["MEMLAG"], "./sim_core"
subprocess.run([os.environ["CC"], "-O2", "-o", PROGRAM, __file__.replace(".py", ".c")], check=True)
PRESET = {  # of the CPU that is simulated, set here so that the test knows them
    "l3.latency_cycles": 60, "page_walk.latency_cycles": 0, "stlb.latency_cycles": 0,
    "l1d.latency_cycles": 5, "core.issue_width": 4, "core.lock_cycles": 18,
    "branch.mispredict_cycles": 16, "fetch.runs_per_cycle": 1, "fetch.loop_instructions": 0,
    "fetch.call_cycles": 7, "core.unforwarded_cycles": 15, "store_forward.latency_cycles": 7,
    "store_forward.vector_cycles": 9, "store_forward.renamed_cycles": 0,
    "store_forward.renames": 0, "arithmetic.multiply_cycles": 3, "float.add_cycles": 4,
    "float.divide_cycles": 14,
}


# The kernels of one recording, each in a separate process, by record's options.
PREDICTED, CACHES = ("--sim-detail", "branches"), ("--sim-detail", "cache")
SMALL_L3 = ("--sim-set", f"l3.size_bytes={11 << 17}")
ALIAS_CYCLES = 7
ALIASING, ALIASES_FREE = [("--sim-set", f"l1d.alias4k_cycles={cycles}", "--ldlat", "1", "--period", "50")
                          for cycles in (ALIAS_CYCLES, 0)]
FAST_LOCK_CYCLES = 7
FAST_LOCKS = "--sim-set", f"core.lock_cycles={FAST_LOCK_CYCLES}"
TOGETHER = {
    (): """chase add divide chase-l1 simple-chain
        simple-independent count-1 count-4 count-alike count-two count-push count-blocks
        count-byte count-halves count-vector count-early calls store-parts
        store-halves store-past string-short string-none results fresh-stores fresh-loads lock
        gather gather-prefetch gather-prefetch-forgotten loop-in-line loop-over-lines""",
    CACHES: "count-4 chase branch-random",
    ("--sim-set", "store_forward.renames=1"): """count-4 count-alike count-byte
        count-indexed count-other-index count-loaded-base count-global""",
    ("--sim-set", "store_forward.renames=2"): "count-4 count-alike count-byte",
    PREDICTED: """branch-never branch-random branch-late branch-early calls loop-in-line
        loop-over-lines gather-branch gather-branch-dependent""",
    ALIASING: "alias-4160 alias-4096 alias-8196",
    ALIASES_FREE: "alias-4096",
    FAST_LOCKS: "lock lock-parts",
    SMALL_L3: """vectors-fill string-fill string-fill-words string-fill-down vectors-copy
        string-copy string-copy-words string-copy-odd""",
}


def record(kernels, *options, steps=STEPS):
    """Of each process: its counters, the count of its slow loads that are sampled, their mean
    latency in cycles, and how many were blocked by an address (PERF_MEM_BLK_ADDR)."""
    command = [MEMLAG, "record", "--source", "sim", "--sim-prefetch", "off", "--sim-cpu", "skylake-sp"]
    for key, value in PRESET.items():
        command += ["--sim-set", f"{key}={value}"]
    command += ["--no-heap", "--loads-only", *options]
    command += ["--force", "-o", "core.db", "--", PROGRAM, str(steps), *kernels]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with sqlite3.connect("core.db") as db:
        return [(dict(db.execute("""SELECT counter.name, sum(value) FROM reading
                                    JOIN counter USING (counter_id) JOIN thread USING (thread_id)
                                    WHERE process_id = ? GROUP BY 1""", process)),
                 *db.execute("""SELECT count(*), avg(latency_cycles), total(raw >> 40 & 7 = 4)
                                FROM sample JOIN thread USING (thread_id)
                                LEFT JOIN data_source USING (data_source_id) WHERE process_id = ?""",
                             process).fetchone())
                for process in db.execute("SELECT process_id FROM process ORDER BY 1").fetchall()]


def baseline(kernel):
    """The kernel that does all but KERNEL's steps."""
    kind = kernel.split("-")[0]
    return {"gather": "memory-gather", "string": "memory-string",
            "vectors": "memory-string"}.get(kind, "nothing")


@functools.cache
def recorded(*options, kernel=None):
    """By kernel: this one alone, or all that share a recording."""
    kernels = [kernel] if kernel else TOGETHER[options].split()
    kernels = [*dict.fromkeys(map(baseline, kernels)), *kernels]
    parent, *children = record(kernels, *options)
    return dict(zip(kernels, children, strict=True))


def recorded_with(options, kernel):
    return recorded(*options, kernel=None if options in TOGETHER else kernel)


def per_step(kernel, *options):
    kernels = recorded_with(options, kernel)
    nothing, counters = kernels[baseline(kernel)][0], kernels[kernel][0]
    return {name: (value - nothing.get(name, 0)) / STEPS for name, value in counters.items()}


def sampled(kernel, *options):
    """The samples of KERNEL's slow loads: see record."""
    return recorded_with(options, kernel)[kernel][1:]


def expect(what, value, expected, tolerance):
    assert abs(value - expected) <= tolerance * expected, f"{what}: {value:.2f}, not {expected:.2f}"


CYCLES = "cpu_clk_unhalted.thread"
LOADS = "mem_inst_retired.all_loads"
STALLS_L1D = "cycle_activity.stalls_l1d_pending"

# A pointer chase in L3 (4 MiB are more than the 1 MiB of L2).
l3 = PRESET["l3.latency_cycles"]
plain = per_step("chase")
expect("chase", plain[CYCLES], l3, 0.02)
expect("chase: stalls", plain[STALLS_L1D], l3, 0.03)

# Chains of arithmetic alone.
expect("additions", per_step("add")[CYCLES], PRESET["float.add_cycles"], 0.03)
expect("divisions", per_step("divide")[CYCLES], PRESET["float.divide_cycles"], 0.03)

# Chains of L1 hits and of simple instructions; four that are independent, and three that
# count the loop, issue four in a cycle.
expect("chase in L1", per_step("chase-l1")[CYCLES], PRESET["l1d.latency_cycles"], 0.03)
expect("4 simple instructions in a chain", per_step("simple-chain")[CYCLES], 4, 0.03)
expect("4 independent ones", per_step("simple-independent")[CYCLES], 7 / 4, 0.15)

# Chains through memory: the way through the store buffer and the additions, one cycle each.
# Two that need nothing of each other take the time of one, and a value that waits for
# nothing takes none. Where memory is renamed the additions alone are left: of general
# registers, if the load writes the address as the store does, or however it does.
through = PRESET["store_forward.latency_cycles"]
for kernel, expected in (("count-1", through + 1), ("count-4", through + 4),
                         ("count-alike", through + 4), ("count-two", through + 1),
                         ("count-push", through + 1), ("count-blocks", through + 1),
                         ("count-byte", through + 1),
                         ("count-halves", PRESET["store_forward.vector_cycles"] + 1),
                         ("count-vector", PRESET["store_forward.vector_cycles"]
                          + PRESET["float.add_cycles"])):
    expect(kernel, per_step(kernel)[CYCLES], expected, 0.05)
for renames, kernels in ((1, {"count-4": through + 4, "count-alike": 4,
                              "count-byte": through + 1, "count-indexed": 4,
                              "count-other-index": through + 4, "count-loaded-base": 4,
                              "count-global": 4}),
                         (2, {"count-4": 4, "count-alike": 4, "count-byte": 1})):
    for kernel, expected in kernels.items():
        renamed = per_step(kernel, "--sim-set", f"store_forward.renames={renames}")
        # A wrong prediction of the start stands for eight in one run of the two.
        expect(f"{kernel}, renames {renames}", renamed[CYCLES], expected, 0.1)
assert per_step("count-early")[CYCLES] <= PRESET["l1d.latency_cycles"], "a stored value that was there long before"
assert per_step("count-4", *CACHES)[CYCLES] <= through, "chains through memory take their time with caches only"

# Independent chains behind loads overlap as far as the scheduler has places. This function computes
# their time: instructions issue in order, four a cycle, and each needs a place. A chain's
# instructions and the sum behind it keep their places until they execute. The second of a step's 32
# instructions is the load.
def chains(places, latency, steps=200):
    slots = PRESET["core.issue_width"]
    now, leaving, ends = 0, [], []
    for _ in range(steps):
        executes = now + (latency + 1) * slots
        for instruction in range(32):
            now += 1
            while leaving and leaving[0] <= now:
                heapq.heappop(leaving)
            if len(leaving) == places:
                now = heapq.heappop(leaving)
            if 2 <= instruction < 27:
                executes = max(executes + slots, now)
                heapq.heappush(leaving, executes)
        ends.append(now)
    return (ends[-1] - ends[steps // 2]) / (steps - 1 - steps // 2) / slots


# By default the share of a loop's instructions that wait stands for that, without their execution
# time: it is exact for slow loads.
for detail, places, latency in (("branches", 50, l3), ("branches", 100, l3),
                                ("branches", 4096, l3), ("full", 60, 800), ("full", 110, 800)):
    options = ("--sim-detail", detail, "--sim-set", f"l3.latency_cycles={latency}",
               "--sim-set", "core.rob_entries=4096",
               "--sim-set", "core.load_buffer_entries=4096",
               "--sim-set", f"core.scheduler_entries={places}")
    expect(f"chains, {detail}, {places} places", per_step("chains", *options)[CYCLES],
           chains(places, latency), 0.04)

# Half of the random branches are mispredicted. On average two steps of the generator (a
# multiplication and an addition), a shift, a mask and the test follow each.
MISPREDICTED = "br_misp_retired.all_branches"
never = per_step("branch-never", *PREDICTED)
assert never[MISPREDICTED] <= 0.01, f"branches never taken: {never[MISPREDICTED]:.3f} mispredicted a step"
branches = per_step("branch-random", *PREDICTED)
expect("random branches: mispredicted", branches[MISPREDICTED], 0.5, 0.04)
cost = branches[CYCLES] / branches[MISPREDICTED]
penalty = PRESET["branch.mispredict_cycles"]
assert penalty + 4 <= cost <= penalty + 12, f"random branches: {cost:.1f} cycles for each wrong prediction"

# Five multiplications make a bit of the generator. A wrong branch waits for that chain, which began
# behind the previous penalty. Each step between the two adds the generator's time. If the previous
# step's bit decides, its chain ran during the penalty. If the wrong branch follows at once, only
# the penalty and the step's 13 instructions remain.
generator = PRESET["arithmetic.multiply_cycles"] + 1
begun_behind = penalty + generator + 5 * PRESET["arithmetic.multiply_cycles"] + 1 + generator
at_once = penalty + 13 / PRESET["core.issue_width"]
for kernel, expected in (("branch-late", begun_behind),
                         ("branch-early", (at_once + begun_behind) / 2)):
    counted = per_step(kernel, *PREDICTED)
    expect(kernel, counted[CYCLES] / counted[MISPREDICTED], expected, 0.06)

# A call and its return take the front end so long, and the two other jumps of the step a
# cycle each; its eight instructions issue in two cycles.
expect("calls", per_step("calls", *PREDICTED)[CYCLES], PRESET["fetch.call_cycles"] + 2, 0.03)
assert per_step("calls")[CYCLES] <= PRESET["fetch.call_cycles"] / 2, "followed without its option"

# A loop takes a cycle from one line of code, and two cycles from two lines, also if an instruction
# lies in both, with and without branch prediction. From a queue that holds it, it takes one cycle.
# A step makes eight passes.
for options in ((), PREDICTED):
    for kernel, cycles in (("loop-in-line", 8), ("loop-over-lines", 16)):
        expect(kernel, per_step(kernel, *options)[CYCLES], cycles, 0.03)
    for places, cycles in ((3, 16), (4, 8)):
        queue = ("--sim-set", f"fetch.loop_instructions={places}")
        expect(f"loop-over-lines, {places} places",
               per_step("loop-over-lines", *options, *queue)[CYCLES], cycles, 0.03)
# A repeated string instruction comes once.
for detail in ((), PREDICTED):
    expect("string-fill", per_step("string-fill", *SMALL_L3, *detail)[CYCLES],
           per_step("vectors-fill", *SMALL_L3, *detail)[CYCLES], 0.1)

# A load waits for stores that each cover a part of it. It does not wait for a store that covers all
# of it, nor for one long ago: four of 256 instructions issue in a cycle.
parts = per_step("store-parts")[CYCLES]
expect("a word stored by halves", parts, PRESET["core.unforwarded_cycles"], 0.1)
halves = per_step("store-halves")[CYCLES]
assert halves <= PRESET["l1d.latency_cycles"] + 2, f"half of a stored word: {halves:.1f} cycles"
expect("a store long past", per_step("store-past")[CYCLES], 256 / 4, 0.1)

# A load that follows a store to another page takes longer if it has the store's lowest 12 bits
# of the address, or some of its bytes. Without a price it does not count.
ALIAS = "ld_blocks_partial.address_alias"
apart, same = (per_step(kernel, *ALIASING) for kernel in ("alias-4160", "alias-4096"))
assert apart.get(ALIAS, 0) <= 0.004 and not per_step("alias-4096", *ALIASES_FREE).get(ALIAS, 0), apart
expect("loads that alias", same[ALIAS], 1, 0.004)
expect("loads that alias by parts", per_step("alias-8196", *ALIASING)[ALIAS], 1, 0.004)
expect("an alias", same[CYCLES] - apart[CYCLES], ALIAS_CYCLES, 0.07)
expect("an alias for nothing", per_step("alias-4096", *ALIASES_FREE)[CYCLES], apart[CYCLES], 0.05)
assert sampled("alias-4096", *ALIASING)[2] >= 500, "loads are not sampled as blocked by an address"

# By default windows stand for the rest: as many are wrong, and each costs the same.
kernels = ["nothing", "branch-never", "branch-random", "branch-late", "branch-early"]
parent, nothing, *rest = [counters for counters, *_ in record(kernels, steps=MANY)]
never, windows, late, early = [
    {name: (value - nothing.get(name, 0)) / MANY for name, value in counters.items()}
    for counters in rest]
assert never[MISPREDICTED] <= 0.001, f"by default {never[MISPREDICTED]:.4f} of branches never taken are mispredicted"
for kernel, counted in (("branch-random", windows), ("branch-late", late),
                        ("branch-early", early)):
    expect(f"{kernel} by default: mispredicted", counted[MISPREDICTED], 0.5, 0.06)
cost = (windows[CYCLES] - never[CYCLES]) / windows[MISPREDICTED]
assert penalty <= cost <= penalty + 8, f"random branches by default: {cost:.1f} cycles for each wrong prediction"
expect("branch-late by default", late[CYCLES] / late[MISPREDICTED], begun_behind, 0.15)
assert early[CYCLES] <= 0.8 * late[CYCLES], f"a chain under way before the branch: {early[CYCLES]:.1f} cycles a step"

# Without a predictor there is no count of mispredictions, and nothing waits.
followed = per_step("branch-random", *CACHES)
assert MISPREDICTED not in followed and followed[CYCLES] <= branches[CYCLES] / 2, followed

# A repeated string instruction counts as one instruction, plus one for each chunk of 32 bytes that
# it writes (or reads, if it copies), with an access of each. For time and memory it is a loop of
# vectors of that length. Each step moves 8 chunks, beyond a small L3.
INSTRUCTIONS = "inst_retired.any"
for moves in ("fill", "copy"):
    vectors = per_step(f"vectors-{moves}", *SMALL_L3)
    vector_samples, vector_latency, _ = sampled(f"vectors-{moves}", *SMALL_L3)
    for way in ("", "-words") + (("-down",) if moves == "fill" else ("-odd",)):
        string = per_step(f"string-{moves}{way}", *SMALL_L3)
        what = f"string: {moves}{way}"
        expect(f"{what}: instructions", string[INSTRUCTIONS], 8, 0.01)
        assert abs(string[LOADS] - (8 if moves == "copy" else 0)) <= 0.02, f"{what}: {string[LOADS]:.2f} loads a step"
        for traffic in ("dram.read_bytes", "dram.write_bytes"):
            expect(f"{what}: {traffic}", string[traffic], vectors[traffic], 0.02)
        expect(f"{what}: cycles", string[CYCLES], vectors[CYCLES], 0.1)
        # To a sampler, too: as many slow loads, which wait for as long.
        if moves == "copy":
            samples, latency, _ = sampled(f"string-{moves}{way}", *SMALL_L3)
            expect(f"{what}: samples", samples, vector_samples, 0.02)
            expect(f"{what}: mean latency", latency, vector_latency, 0.1)
# A short one is counted too; one of length 0 is one instruction. The loop around it has the same
# other instructions in both cases.
short, none = per_step("string-short"), per_step("string-none")
expect("short string: loads", short[LOADS] - none[LOADS], 1, 0.01)
expect("short string: instructions", short[INSTRUCTIONS] - none[INSTRUCTIONS], 1, 0.01)
assert short[CYCLES] <= none[CYCLES] + 2, f"short string: {short[CYCLES]:.1f} cycles, {none[CYCLES]:.1f} without"

# Lines that the kernel has just written are in L1: a block that read() fills, and each line of a
# page at its first touch, also where another mapping has been. (A line is 64 bytes; no flushed page
# is in the caches.)
MISSES = "mem_load_retired.l1_miss"
for kernel in ("results", "fresh-stores", "fresh-loads"):
    counted = per_step(kernel)
    assert counted["dram.read_bytes"] <= 0.02 * 64 and counted[MISSES] <= 0.02, (kernel, counted)

# A locked instruction waits for the one before, however the next one gets its value.
expect("locked increments", per_step("lock")[CYCLES], PRESET["core.lock_cycles"], 0.06)
# The loop's other instructions take a cycle.
expect("fast locked increments", per_step("lock", *FAST_LOCKS)[CYCLES], FAST_LOCK_CYCLES + 1, 0.06)
if per_step("lock-parts", *FAST_LOCKS).get("ld_blocks.store_forward", 0) > 0.01:
    sys.exit("a load waits for a locked store")
expect("samples of locked increments", sampled("lock")[0] - sampled("nothing")[0], STEPS / 997, 0.5)

# Software prefetches bring the same lines, in time, also from an address that no register
# has any more when the next access to memory comes.
without = per_step("gather")
for kernel in ("gather-prefetch", "gather-prefetch-forgotten"):
    prefetching = per_step(kernel)
    expect(kernel, prefetching["dram.read_bytes"], without["dram.read_bytes"], 0.02)
    expect(f"{kernel}: loads", prefetching[LOADS] - without[LOADS], 1, 0.01)
    assert prefetching[CYCLES] <= 0.6 * without[CYCLES], (kernel, prefetching, without)

# Every second step predicts wrongly. The next lines are loaded before the branch is decided, except
# lines whose address depends on it. A wrong step of the latter takes memory's latency, in which
# many of the former pass.
independent = per_step("gather-branch", *PREDICTED)
dependent = per_step("gather-branch-dependent", *PREDICTED)
expect("gathers with a branch: mispredicted", independent[MISPREDICTED], 0.5, 0.04)
expect("gathers that depend on it: mispredicted", dependent[MISPREDICTED], 0.5, 0.04)
assert independent[CYCLES] <= 0.5 * dependent[CYCLES], (independent, dependent)

# Caches only: the same misses, but the chain's loads do not wait for each other.
SAID = {"full": b"), without prefetchers, ", "cache": b"caches",
        "branches": b"), with wrong paths and the front end, without prefetchers, "}
for detail, words in {None: SAID["full"], **SAID}.items():
    record(["nothing"], *(("--sim-detail", detail) if detail else ()))
    with sqlite3.connect("core.db") as db:
        stored = db.execute("SELECT value FROM run WHERE key = 'sim_detail'").fetchone()[0]
    assert stored == (detail or "full"), stored
    report = subprocess.run([MEMLAG, "report", "-i", "core.db"], check=True, capture_output=True)
    first = report.stdout.splitlines()[0]
    assert [other for other in SAID.values() if other in first] == [words], (detail, first)
caches_only = per_step("chase", *CACHES)
expect("misses, caches only", caches_only[MISSES], plain[MISSES], 0.01)
assert caches_only[CYCLES] <= plain[CYCLES] / 3, f"caches only: {caches_only[CYCLES]:.1f} cycles a step"


def samples():
    record(["chase"])
    with sqlite3.connect("core.db") as db:
        return db.execute("SELECT time_ns, ip, addr, latency_cycles FROM sample").fetchall()


# A single thread does the same in every run.
first = samples()
assert first and samples() == first, "two runs of one program have other samples"

# The first lines of a report tell wrong predictions, which are no wait of a line, and aliases
# if anything waits for them.
for kernel, words, told in (("branch-random", "mispredicted", True),
                            ("branch-never", "mispredicted", False),
                            ("alias-4096", "4 KiB aliasing", True),
                            ("alias-unused", "4 KiB aliasing", False)):
    (counters, *_), = record([kernel], *ALIASING, steps=MANY // 2)
    assert kernel != "alias-unused" or counters[ALIAS] > MANY // 3, counters
    report = subprocess.run([MEMLAG, "report", "core.db"], check=True, capture_output=True, text=True)
    assert (words in " ".join(report.stdout.split())) == told, f"{kernel}: {report.stdout}"
print("ok")
