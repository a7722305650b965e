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
