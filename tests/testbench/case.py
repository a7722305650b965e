# SPDX-License-Identifier: MIT
"""A test case on one machine, and what its assertions have in common."""

import json
import unittest

from recording import Recording
from script import Journal, Player

ROLES = {"main", "thread", "child", "executed"}
PERIOD = 100  # of the recorders in all scenarios of steps
PERF_THRESHOLD = 31  # perf mem adds its 30 to the 3 of the alias by "or"


class MachineCase(unittest.TestCase):
    machine = None  # of the subclass
    extra = 7  # the player's option --extra in all scenarios

    @classmethod
    def setUpClass(cls):
        cls.results = cls.machine.boot()

    def path(self, name):
        return f"{self.results}/{name}"

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def status(self, name):
        return int(self.text(f"{name}.status"))

    def findings(self, name):
        return {finding["topic"]: finding for finding in json.loads(self.text(name))}

    def player(self, name):
        return Player(self.path(name), self.extra)

    def journal(self, scenario):
        return Journal(self.path(f"{scenario}/journal.csv"))

    def recording(self, name):
        return Recording(self.path(name))

    def assert_recorded(self, samples, player, latency="latency"):
        """Each sample is what its address says, and memlag names its parts rightly.
        LATENCY is the field of the access that counts."""
        self.assertTrue(samples)
        for sample in samples:
            access = player.access_at(sample.addr)
            self.assertEqual(
                sample._replace(time_ns=None, function=None, object_kind=None, object=None),
                (None, access.pid, access.tid, access.ip, access.addr, access.op,
                 getattr(access, latency), access.level, access.tlb, access.snoop,
                 access.locked, None, None, None))
            self.assertEqual((sample.function, sample.object_kind, sample.object),
                             (access.site, "global", access.array))

    def assert_steps(self, samples, player, steps, threshold, roles=ROLES, op="load"):
        """They are one in PERIOD of the STEPS accesses that each role made."""
        for role in roles:
            expected = player.sampled_steps(role, steps, PERIOD, threshold, op)
            self.assertEqual([sample.addr for sample in samples if sample.op == op and
                              player.access_at(sample.addr).role == role],
                             [access.addr for access in expected])

    def assert_produced(self, samples, journal):
        """They are all that the PMU made, in its order."""
        self.assertEqual([(sample.pid, sample.tid, sample.ip, sample.addr)
                          for sample in samples],
                         [(sample.pid, sample.tid, sample.ip, sample.addr)
                          for sample in journal.samples])

    def assert_roles(self, samples, player, roles=ROLES):
        self.assertEqual({player.access_at(sample.addr).role for sample in samples}, roles)

    def assert_refused(self, scenario, *words):
        """In one line with these words."""
        self.assertEqual(self.status(f"{scenario}/record"), 1)
        message = self.text(f"{scenario}/record.err")
        self.assertEqual(message.count("\n"), 1, message)
        for word in words:
            self.assertIn(word, message)


class PebsCase(MachineCase):
    """What memlag record --source pebs left in a scenario."""

    latency = "latency"  # the field of an access that is stored

    def samples_of(self, scenario, output="record.out"):
        """The samples of a recording that must have all that was produced, and the
        player."""
        player = self.player(f"{scenario}/{output}")
        recording = self.recording(f"{scenario}/record.db")
        samples = recording.memory_samples()
        self.assertEqual(self.status(f"{scenario}/record"), 0)
        self.assertNotIn("records lost", recording.ledger)
        self.assert_recorded(samples, player, self.latency)
        self.assert_produced(samples, self.journal(scenario))
        return samples, player

    def comparable(self, recording, output):
        """The samples of two runs that did the same are the same in this form."""
        player = self.player(output)
        return sorted((player.access_at(sample.addr).role,
                       *sample._replace(time_ns=0, pid=0, tid=0))
                      for sample in self.recording(recording).memory_samples())

    def assert_latencies(self, recording, least, lmrl, l1_miss):
        """All intervals; there are more than LEAST. An emulated kernel takes some microseconds of
        an interval to start the counters one after the other."""
        for column, value in (("lmrl_cycles", lmrl), ("l1_miss_latency_cycles", l1_miss)):
            intervals = recording.intervals(column)
            self.assertGreater(len(intervals), least)
            for interval in intervals:
                self.assertAlmostEqual(interval[1], value, delta=0.002 * value, msg=interval)

    def assert_phases(self, recording):
        """guest/phases.txt: 90 cycles for 50 ms, then 20, and so on, 210 ms in all."""
        intervals = self.recording(recording).intervals("lmrl_cycles")
        # Counts are whole numbers, of ten thousands in an interval.
        kinds = "".join("a" if abs(lmrl - 90) < 0.01 else
                        "b" if abs(lmrl - 20) < 0.01 else
                        "-" for _, lmrl in intervals)
        self.assertRegex(kinds, "^-?a{4,6}-{1,2}b{3,5}-{1,2}a{3,5}-{1,2}b{3,5}-{0,2}a*-?$")
        for _, lmrl in intervals:
            self.assertTrue(19.99 < lmrl < 90.01, lmrl)
