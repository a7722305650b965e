# SPDX-License-Identifier: MIT
"""Runs whose verdict follows from their code and the simulated CPU: the verdicts that an expert
would accept for the lines of each function. Each is recorded once with short intervals and judged
again with longer ones, as readings add up."""
import collections
import contextlib
import os
import shutil
import sqlite3
import subprocess

RECORDED_MS = 0.5
INTERVALS_MS = [0.5, 2, 10, 50]
PERIOD = 199

# Verdicts that call for no action, and their absence.
HARMLESS = {"none", "cache", "too-few-samples"}

# In the core, and for DRAM: of loads that fill the buffers both are true. And the caches that the
# lines pass, where prefetches bring them from DRAM: a nearer L3 then saves most (memlag whatif).
FULL = {"in-core", "dram-latency", "cache"}

# The last cache is smaller than the preset's, so less data suffices. Where memory's bandwidth is to
# be short, it is so small that four cores need more.
CPUS = {
    "haswell-ep": (["l2.size_bytes=524288", "l3.size_bytes=7864320"], 14),
    "skylake-sp": (["l3.size_bytes=10092544"], 15),
    "sapphire-rapids": (["l3.size_bytes=7864320"], 20),
    "zen4": (["l3.size_bytes=8388608"], 20),
}
BOTH = ("off", "on")

Case = collections.namedtuple("Case", "name kernel options truth function prefetch narrow")


def case(name, kernel, options, truth, function, prefetch=BOTH, narrow=False):
    return Case(name, kernel, options.split(), truth, function, prefetch, narrow)


MEMORY = "--size 32M"
CHASE = "chase_plain"
READ = "read_records%"
CASES = [
    # One line at a time, memory idle.
    case("chase in DRAM", "chase", f"{MEMORY} --passes 1", {"dram-latency"}, CHASE),
    case("chases in DRAM, 4 threads", "chase", f"{MEMORY} --threads 4 --passes 1",
         {"dram-latency"}, CHASE),
    case("two words of a line in DRAM", "pairs", f"{MEMORY} --passes 1", {"dram-latency"},
         "chase_pairs"),
    case("reads now and then", "memread", "--size 32M --delay 1000 --passes 1",
         {"dram-latency"}, READ, ("off",)),
    case("reads now and then, 4 threads", "memread",
         "--size 32M --threads 4 --delay 2000 --passes 1", {"dram-latency"}, READ,
         ("off",)),
    # Prefetched in time: nothing is left to wait for.
    case("reads now and then, prefetched", "memread", "--size 32M --delay 1000 --passes 1",
         HARMLESS, READ, ("on",)),
    # As many lines at a time as a core has buffers, memory far from its limit.
    case("reads of one core", "memread", f"{MEMORY} --passes 2", FULL, READ),
    case("triad of one core", "triad", f"{MEMORY} --passes 2", FULL, "run_triad"),
    case("gather of one core", "gather", f"{MEMORY} --passes 1", FULL, "gather_lines"),
    # More cores than memory can serve.
    case("reads, 4 threads", "memread", f"{MEMORY} --threads 4 --passes 6",
         {"dram-contention"}, READ, narrow=True),
    case("triad, 4 threads", "triad", f"{MEMORY} --threads 4 --passes 6",
         {"dram-contention"}, "run_triad", narrow=True),
    case("gather, 4 threads", "gather", f"{MEMORY} --threads 4 --passes 4",
         {"dram-contention"}, "gather_lines", narrow=True),
    # Caches.
    case("chase in L3", "chase", "--size 4M --passes 6", {"cache"}, CHASE),
    case("two words of a line in L3", "pairs", "--size 4M --passes 6", {"cache"}, "chase_pairs"),
    case("gather in L3", "gather", "--size 4M --passes 6", {"cache", "in-core"}, "gather_lines"),
    case("chase in L2", "chase", "--size 192K --passes 60", {"cache"}, CHASE),
    case("loads in L2", "load", "--size 192K --passes 40", HARMLESS, "%load%"),
    # The translation.
    case("a page a line", "tlb", "--size 16M --passes 40", {"tlb"}, CHASE),
    case("a page a line, 4 threads", "tlb", "--size 64M --threads 4 --passes 20", {"tlb"}, CHASE),
    # Lines that cores fight for.
    case("false sharing", "false-sharing", "--passes 200", {"sharing"}, "add_locked"),
    case("true sharing, 4 threads", "true-sharing", "--threads 4 --passes 100",
         {"sharing"}, "add_locked"),
]


# The experiments are about loads: the kernel costs nothing.
LOADS_ALONE = ["--loads-only", "--sim-set", "kernel.fault_ns=0", "--sim-set",
               "kernel.call_ns=0", "--sim-set", "kernel.copy_gbs=10000"]


def record(memlag, directory, cpu, prefetch, the_case, detail="full"):
    """The database of a case; it is recorded when it is not there yet."""
    name = the_case.name.replace(" ", "-").replace(",", "")
    path = os.path.join(directory, f"{cpu}.{prefetch}.{detail}.{name}.db")
    if os.path.exists(path):
        return path
    command = [memlag, "record", "-o", path + ".new", "--source", "sim", "--sim-cpu", cpu,
               "--sim-detail", detail, "--sim-prefetch", prefetch, "--interval", str(RECORDED_MS), "--period",
               str(PERIOD), "--no-heap", "--call-graph", "none", *LOADS_ALONE]
    settings, narrow_gbs = CPUS[cpu]
    if the_case.narrow:
        settings = [*settings, f"dram.bandwidth_gbs={narrow_gbs}"]
    for setting in [*settings, "numa.nodes=1"]:
        command += ["--sim-set", setting]
    command += ["--", memlag, "bench", the_case.kernel, *the_case.options]
    subprocess.run(command, check=True, capture_output=True,
                   env={**os.environ, "XDG_DATA_HOME": directory})
    os.rename(path + ".new", path)
    return path


def opened(path):
    """The database, to be closed by who asked for it."""
    return contextlib.closing(sqlite3.connect(path))


def judged(memlag, recording, scratch, interval_ms, part=1):
    """A copy of RECORDING, judged with intervals of INTERVAL_MS and one of PART of its
    samples."""
    shutil.copyfile(recording, scratch)
    with opened(scratch) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("UPDATE run SET value = ? WHERE key = 'interval_ns'",
                           (round(interval_ms * 1e6),))
        if part > 1:
            # Without an order that a loop could have.
            connection.execute(
                "DELETE FROM sample WHERE sample_id * 2654435761 % 1000003 % ?", (part,))
            connection.execute(
                "UPDATE run SET value = value * ? WHERE key = 'period_loads'", (part,))
        connection.commit()
    subprocess.run([memlag, "analyze", scratch], check=True, capture_output=True)
    return scratch


def verdicts(database, function):
    """FUNCTION's lines with a tenth of its latency or more. Lines with too few samples do not count
    if others have enough."""
    with opened(database) as connection:
        rows = connection.execute(
            "SELECT verdict, latency_share FROM line_view WHERE function LIKE ?",
            (function,)).fetchall()
    whole = sum(share or 0 for _, share in rows)
    found = {verdict for verdict, share in rows if (share or 0) >= 0.1 * whole}
    return found - {"too-few-samples"} or found or {"too-few-samples"}


def of_caches_only(truth):
    """The rest of TRUTH if loads wait for no value: nothing then shows overlap."""
    dram = {"dram-latency", "dram-contention", "in-core"}
    return {"dram" if verdict in dram else verdict for verdict in truth}
