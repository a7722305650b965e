#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes intel_events.inc: the events that memlag uses, of each Intel CPU, from Intel's own
lists.

    git clone https://github.com/intel/perfmon
    python3 make_intel_events.py perfmon >intel_events.inc

A CPU is added by its directory in PERFMON and a word in PLATFORMS, a use of a counter by
a line in ROLES and in event_table.h."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

# Directories of perfmon, oldest first.
PLATFORMS = ("HSW HSX BDW BDW-DE BDX SKL SKX CLX ICL ICX TGL RKL ADL SPR EMR MTL GNR").split()

# What perfmon calls the kinds of core, in the names of its files.
E_CORES = ("gracemont", "crestmont")

# Whose P-cores sample load latency only beside LD_BLOCKS.STORE_FORWARD: the kernel's
# PMU_FL_MEM_LOADS_AUX (arch/x86/events/intel/core.c).
AUXILIARY = ("ADL", "SPR", "EMR")

# Role: the events that play it, of which the first that a CPU has is used. A pattern stands
# for one event that has several names, of which the last part is a parameter.
P_ROLES = {
    "LOADS": [r"MEM_TRANS_RETIRED\.LOAD_LATENCY_GT_\d+"],
    "STORES": [r"MEM_TRANS_RETIRED\.STORE_SAMPLE", r"MEM_INST_RETIRED\.ALL_STORES",
               r"MEM_UOPS_RETIRED\.ALL_STORES"],
    "AUXILIARY": [r"LD_BLOCKS\.STORE_FORWARD"],
    "CYCLES": [r"CPU_CLK_UNHALTED\.THREAD"],
    "INSTRUCTIONS": [r"INST_RETIRED\.ANY"],
    "ALL_LOADS": [r"MEM_INST_RETIRED\.ALL_LOADS", r"MEM_UOPS_RETIRED\.ALL_LOADS"],
    "PENDING": [r"L1D_PEND_MISS\.PENDING"],
    "L1_MISS": [r"MEM_LOAD_RETIRED\.L1_MISS", r"MEM_LOAD_UOPS_RETIRED\.L1_MISS"],
    "FB_HIT": [r"MEM_LOAD_RETIRED\.FB_HIT", r"MEM_LOAD_UOPS_RETIRED\.HIT_LFB"],
    "L1_MISS_ANY": [r"MEM_LOAD_COMPLETED\.L1_MISS_ANY"],
    "FB_FULL": [r"L1D_PEND_MISS\.FB_FULL"],
    "SQ_FULL": [r"OFFCORE_REQUESTS_BUFFER\.SQ_FULL"],
    "STALLS": [r"CYCLE_ACTIVITY\.STALLS_TOTAL", r"CYCLE_ACTIVITY\.CYCLES_NO_EXECUTE"],
    "STALLS_L1D": [r"MEMORY_ACTIVITY\.STALLS_L1D_MISS", r"CYCLE_ACTIVITY\.STALLS_L1D_MISS",
                   r"CYCLE_ACTIVITY\.STALLS_L1D_PENDING"],
    "STALLS_L2": [r"MEMORY_ACTIVITY\.STALLS_L2_MISS", r"CYCLE_ACTIVITY\.STALLS_L2_MISS",
                  r"CYCLE_ACTIVITY\.STALLS_L2_PENDING"],
    "STALLS_L3": [r"MEMORY_ACTIVITY\.STALLS_L3_MISS", r"CYCLE_ACTIVITY\.STALLS_L3_MISS"],
    "STORE_BUFFER": [r"RESOURCE_STALLS\.SB"],
}
# Said to count the same, or like it; each that a CPU has.
P_ALTERNATIVES = {
    "L1_MISS": [r"L1D\.REPLACEMENT"],
    "STALLS": [r"UOPS_EXECUTED\.STALL_CYCLES", r"UOPS_EXECUTED\.STALLS"],
    "STALLS_L1D": [r"CYCLE_ACTIVITY\.STALLS_LDM_PENDING", r"CYCLE_ACTIVITY\.STALLS_MEM_ANY",
                   r"EXE_ACTIVITY\.BOUND_ON_LOADS"],
    "STORE_BUFFER": [r"EXE_ACTIVITY\.BOUND_ON_STORES"],
}
# Nothing that memlag records, but to be validated.
P_CANDIDATES = [
    r"MEM_INST_RETIRED\.ALL_STORES", r"MEM_UOPS_RETIRED\.ALL_STORES", r"L2_LINES_IN\.ALL",
    r"LONGEST_LAT_CACHE\.MISS", r"MEM_LOAD_RETIRED\.L3_MISS",
    r"MEM_LOAD_UOPS_RETIRED\.L3_MISS", r"OFFCORE_REQUESTS\.DEMAND_DATA_RD",
    r"OFFCORE_REQUESTS\.DEMAND_RFO",
]
E_ROLES = {
    "LOADS": [r"MEM_UOPS_RETIRED\.LOAD_LATENCY_GT_\d+"],
    "STORES": [r"MEM_UOPS_RETIRED\.STORE_LATENCY"],
    "CYCLES": [r"CPU_CLK_UNHALTED\.THREAD"],
    "INSTRUCTIONS": [r"INST_RETIRED\.ANY"],
    "ALL_LOADS": [r"MEM_UOPS_RETIRED\.ALL_LOADS"],
    "STALLS_L1D": [r"MEM_BOUND_STALLS\.LOAD", r"MEM_BOUND_STALLS_LOAD\.ALL"],
}
IMC_ROLES = {
    "DRAM_READ": [r"UNC_M_CAS_COUNT\.RD", r"UNC_M_CAS_COUNT_RD", r"UNC_M_CAS_COUNT_SCH[01]\.RD"],
    "DRAM_WRITE": [r"UNC_M_CAS_COUNT\.WR", r"UNC_M_CAS_COUNT_WR", r"UNC_M_CAS_COUNT_SCH[01]\.WR"],
}

# What perf calls the architectural events that perfmon lists by their fixed counter.
FIXED = {"Fixed counter 0": (0xC0, 0), "Fixed counter 1": (0x3C, 1)}


def number(event, key):
    return int(event.get(key) or "0", 16 if "0x" in (event.get(key) or "").lower() else 10)


def config(event):
    """As the kernel's format files have it: event, umask, edge, inv, cmask."""
    if event["Counter"] in FIXED:
        return FIXED[event["Counter"]][0]
    code = int(event["EventCode"].split(",")[0], 16)
    return (code | number(event, "UMask") << 8 | (number(event, "EdgeDetect") & 1) << 18 |
            (number(event, "Invert") & 1) << 23 | number(event, "CounterMask") << 24)


def counters(event, general):
    """One bit for each counter that can count it; bit 32 + n for fixed counter n."""
    if event["Counter"] in FIXED:
        return (1 << general) - 1 | 1 << 32 + FIXED[event["Counter"]][1]
    return sum(1 << int(n) for n in (event.get("CounterHTOff") or event["Counter"]).split(","))


def load(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    events = document["Events"] if isinstance(document, dict) else document
    return [event for event in events if event.get("Deprecated", "0") == "0"]


def players(events, role_events):
    """The events of the first pattern that any event matches."""
    for pattern in role_events:
        found = [event for event in events if re.fullmatch(pattern, event["EventName"])]
        if found:
            return found
    return []


def print_event(platform, core, role, events, names):
    for event in players(events, names)[:1]:
        # An event that may use all counters may use those of a resting sibling too.
        name = re.sub(r"_GT_\d+$", "", event["EventName"]).lower()
        print(f"EVENT(\"{platform}\", {core}, ROLE_{role}, \"{name}\", "
              f"{config(event):#x}, {counters(event, 8):#x})")


def print_core(platform, core, events):
    general = 1 + max(int(n) for event in events if event["EventName"].endswith("THREAD_P")
                      for n in event["Counter"].split(","))
    print(f"COUNTERS(\"{platform}\", {core}, {general})")
    for role, names in (P_ROLES if core == "CORE_P" else E_ROLES).items():
        if role == "AUXILIARY" and platform not in AUXILIARY:
            continue
        print_event(platform, core, role, events, names)
        for name in P_ALTERNATIVES.get(role, []) if core == "CORE_P" else []:
            print_event(platform, core, role, events, [name])
    for name in P_CANDIDATES if core == "CORE_P" else []:
        print_event(platform, core, "CANDIDATE", events, [name])


def print_imc(platform, events):
    imc = [event for event in events if event.get("Unit", "").lower() == "imc"]
    for role, names in IMC_ROLES.items():
        for event in players(imc, names):
            print(f"EVENT(\"{platform}\", CORE_UNCORE, ROLE_{role}, "
                  f"\"{event['EventName'].lower()}\", {config(event):#x}, 0)")


def print_models(platform, rows):
    """Model numbers and the steppings, as a set of bits."""
    seen = dict.fromkeys(row["Family-model"] for row in rows
                         if row["Filename"].startswith(f"/{platform}/")
                         and row["EventType"] in ("core", "hybridcore"))
    for name in seen:
        family, model, *stepping = re.fullmatch(
            r"GenuineIntel-(\d+)-([0-9A-F]+)(?:-\[([0-9A-F]+)\])?", name).groups()
        steppings = sum(1 << int(digit, 16) for digit in stepping[0]) if stepping[0] else 0xFFFF
        e_only = all(row["EventType"] == "core" and any(e in row["Filename"] for e in E_CORES)
                     for row in rows if row["Family-model"] == name
                     and row["EventType"] in ("core", "hybridcore"))
        print(f"MODEL(\"{platform}\", {int(family)}, {int(model, 16):#x}, {steppings:#x}, "
              f"{'CORE_E' if e_only else 'CORE_P'})")


def print_platform(perfmon, platform, rows):
    print()
    print_models(platform, rows)
    for path in sorted(perfmon.glob(f"{platform}/events/*_core.json")):
        core = "CORE_E" if any(name in path.name for name in E_CORES) else "CORE_P"
        print_core(platform, core, load(path))
    uncore = sorted(perfmon.glob(f"{platform}/events/*_uncore.json"))
    print_imc(platform, [event for path in uncore for event in load(path)])


def main():
    perfmon = Path(sys.argv[1])
    commit = subprocess.run(["git", "-C", perfmon, "rev-parse", "HEAD"], check=True, text=True,
                            capture_output=True).stdout.strip()
    with open(perfmon / "mapfile.csv", encoding="utf-8", newline="") as mapfile:
        rows = list(csv.DictReader(mapfile))
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Made by make_intel_events.py; do not edit. Facts from Intel's event lists,")
    print(f" * https://github.com/intel/perfmon at {commit}. */")
    for platform in PLATFORMS:
        print_platform(perfmon, platform, rows)


if __name__ == "__main__":
    main()
