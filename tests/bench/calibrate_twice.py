#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""memlag calibrate twice or more in a row: how far the results are apart.

On a quiet machine two calibrations agree within 5 % for latency and 10 % for bandwidth, unless
in one of them a hypervisor had the CPUs apart, or on one core, all the time, which a run's
nearest tells. Prints
the greatest difference of any two runs for each figure; nothing here fails because a machine
is busy, but it says how busy it was. The user's own calibration is left alone.

Latencies of caches are compared in cycles of the core, in which they are measured, as its
clock may be another one in the next run; that has a line of its own. Of a load beyond the knee
the latency changes with what neighbours leave of the bandwidth (memlag-calibrate(1)), so these
figures are held to the limit but counted apart, and beside each stands how many lines the load
had under way by it: bandwidth times latency."""
import argparse
import itertools
import json
import os
import subprocess
import tempfile

LATENCY_LIMIT, BANDWIDTH_LIMIT, COST_LIMIT = 0.05, 0.10, 0.10
# Costs of single events: section and key.
COSTS = [("core", "mispredict_cycles"), ("arithmetic", "unforwarded_cycles"),
         ("arithmetic", "split_load_cycles"), ("kernel", "small_fault_ns"),
         ("kernel", "huge_fault_ns"), ("kernel", "call_ns")]
LINE_BYTES = 64
UNDER_WAY = "lines under way, delay"


def calibrate(program, quick):
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "XDG_DATA_HOME": directory}
        subprocess.run([program, "calibrate"] + ["--quick"] * quick, env=environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = subprocess.run([program, "calibrate", "--export", "json"], env=environment,
                              check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def figures(document):
    """{name: (value, limit)}"""
    found = {"core GHz": (document["clocks"]["core_ghz"], LATENCY_LIMIT)}
    for level in document["caches"]["levels"]:
        found[f"L{level['level']} cycles"] = (level["latency_cycles"], LATENCY_LIMIT)
    for node in document["memory"]:
        found[f"node {node['node']} ns"] = (node["latency_ns"], LATENCY_LIMIT)
    for point in document["bandwidth"]["threads"]:
        for key in ("read_gbs", "write_gbs", "triad_gbs"):
            found[f"{key} of {point['threads']}"] = (point[key], BANDWIDTH_LIMIT)
    for section, key in COSTS:
        found[key] = (document.get(section, {}).get(key), COST_LIMIT)
    found["modified line ns"] = (document["sharing"].get("modified_ns"), LATENCY_LIMIT)
    knee = document["loaded"].get("knee_gbs")
    for point in document["loaded"]["curve"]:
        name = f"ns beside delay {point['delay_nops']}"
        found[name] = (point["latency_ns"], LATENCY_LIMIT)
        if knee and point["gbs"] > knee:
            lines = point["gbs"] * point["latency_ns"] / LINE_BYTES
            found[f"{UNDER_WAY} {point['delay_nops']}"] = (lines, LATENCY_LIMIT)
    if knee:
        found["knee GB/s"] = (knee, BANDWIDTH_LIMIT)
    return {name: figure for name, figure in found.items() if figure[0] is not None}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("memlag")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    runs = []
    for number in range(options.runs):
        document = calibrate(options.memlag, options.quick)
        noise = document["noise"]
        worst = "unknown" if noise["worst_error"] is None else f"{noise['worst_error']:.1%}"
        print(f"run {number + 1}: {noise['seconds']:.1f} s, worst error "
              f"{worst} ({noise['worst_figure']}), {noise['disturbed_rounds']} of {noise['rounds']} "
              f"rounds disturbed, load average {os.getloadavg()[0]:.2f}")
        for pair in document["places"]:
            print(f"       CPUs {pair['cpu']} and {pair['next']}: {pair['nearest_ns'] or 0:.0f} ns at "
                  f"their nearest, apart for {pair['apart_share']:.0%} of the time, on one core for "
                  f"{pair['one_core_share']:.0%}")
        runs.append(figures(document))
    beyond = saturated = 0
    print(f"{'figure':<28} {'least':>10} {'greatest':>10} {'apart':>8}")
    names = list(dict.fromkeys(name for run in runs for name in run))
    for name in names:
        limit, values = None, []
        for run in runs:
            if name in run:
                value, limit = run[name]
                values.append(value)
        if len(values) < len(runs) and name.startswith(UNDER_WAY):
            continue  # a point that is beyond the knee in some runs only
        if len(values) < len(runs):
            beyond += 1
            print(f"{name:<28} not found in every run")
            continue
        apart = max(abs(a - b) / min(a, b) for a, b in itertools.combinations(values, 2))
        beyond += apart > limit
        saturated += apart > limit and name.replace("ns beside", "lines under way,") in names
        print(f"{name:<28} {min(values):10.3f} {max(values):10.3f} {apart:8.1%}"
              f"{'' if apart <= limit else f'  beyond {limit:.0%}'}")
    print(f"{beyond} of {len(names)} figures beyond their limit, {saturated} of these latencies "
          "beyond the knee")


main()
