# SPDX-License-Identifier: MIT
"""The actions of guest/player, from its rule (README.md) and its output, and the PMU's journal of
them. The truth for recordings."""

import csv
import os
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
ACCESSES = 4096
SITES = 4
WORD_BYTES = 8

Access = namedtuple("Access", "role pid tid ip addr latency instruction_latency "
                              "data_src op level tlb snoop locked site array")
Produced = namedtuple("Produced", "time_ns event_id pid tid cpu ip addr data_src latency "
                                  "instruction_latency")


def sources():
    with open(f"{HERE}/guest/sources.csv") as file:
        return list(csv.DictReader(file))


class Player:
    """PATH is the player's output, EXTRA its option --extra."""

    def __init__(self, path, extra=0):
        self.roles = {}  # name: (pid, tid, address of its array)
        self.cpu_ms = {}  # that each role had while it played
        self.frames = {}  # physical addresses of pages
        self._extra = extra
        self._sources = sources()
        self._sites = {}
        with open(path) as file:
            for line in file:
                word, *values = line.split()
                if word == "site":
                    self._sites[int(values[0])] = int(values[1], 16)
                elif word == "played":
                    self.cpu_ms[values[0]] = int(values[1]) / 1e6
                elif word == "page":
                    self.frames[int(values[0], 16)] = int(values[1], 16)
                elif word == "role":
                    self.roles[values[0]] = (int(values[1]), int(values[2]), int(values[3], 16))

    def access_at(self, addr):
        for role, (pid, tid, array) in self.roles.items():
            index = (addr - array) // WORD_BYTES
            if 0 <= index < ACCESSES:
                return self._access(role, pid, tid, array, index)
        raise KeyError(f"the player has nothing at 0x{addr:x}")

    def _access(self, role, pid, tid, array, index):
        source = self._sources[index % len(self._sources)]
        latency = 4 + index * 37 % 1000
        return Access(role, pid, tid, self._sites[index % SITES], array + WORD_BYTES * index,
                      latency, latency + self._extra if self._extra else 0,
                      int(source["data_src"], 16), source["op"], source["level"],
                      source["tlb"], source["snoop"], int(source["locked"]),
                      f"site_{index % SITES}", f"read_by_{role}")

    def sampled_steps(self, role, steps, period, threshold, op="load"):
        """One in PERIOD of the accesses that an event counts, when the role makes STEPS
        accesses one by one (option --steps)."""
        accesses = (self._access(role, *self.roles[role], i % ACCESSES) for i in range(steps))
        counted = [access for access in accesses if access.op == op and
                   (access.instruction_latency or access.latency) > threshold]
        return counted[period - 1::period]


class Journal:
    """All samples that the PMU handed to the kernel, in that order."""

    def __init__(self, path):
        with open(path) as file:
            words = file.readline().split()  # "# produced N throttled N"
            self.produced = int(words[2])
            self.throttled = int(words[4])
            rows = csv.DictReader(file)
            self.samples = [Produced(*(int(row[name], 0) for name in Produced._fields))
                            for row in rows]
        if len(self.samples) != self.produced:
            raise ValueError(f"{path} has no room for {self.produced} samples")
