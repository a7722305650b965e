#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server CPU without an auxiliary event, under a kernel that does not know
PERF_SAMPLE_WEIGHT_STRUCT."""

import unittest

import bench
from case import PERF_THRESHOLD, PebsCase
from recording import perf_script_samples
from script import ACCESSES, WORD_BYTES, sources

THRESHOLD = 30
PAGE_BYTES = 4096


class IceLake(PebsCase):
    machine = bench.Machine("ice_lake", family=6, model=106, stepping=6,
                            pmu="pmu_name=icelake weight_struct=0 constraints="
                                "82d0:f,81d0:f,148:f,248:f,8d1:f,40d1:f,ca3:f")
    extra = 0

    def test_doctor(self):
        found = self.findings("doctor.json")
        self.assertEqual(found["pebs"]["status"], "ok")
        self.assertNotIn("aux", found)

    def test_steps(self):
        samples, player = self.samples_of("steps")
        self.assert_steps(samples, player, 5000, PERF_THRESHOLD)

    def test_record_is_what_perf_records(self):
        """One for one, with everything but the numbers of processes."""
        self.assertEqual(self.comparable("steps/record.db", "steps/record.out"),
                         self.comparable("import/import.db", "import/player.out"))

    def test_heap_block(self):
        """The main thread's array is a block of its heap this time."""
        self.assertEqual(self.status("heap/record"), 0)
        player = self.player("heap/record.out")
        recording = self.recording("heap/record.db")
        samples = recording.memory_samples()
        self.assert_produced(samples, self.journal("heap"))
        self.assert_steps(samples, player, 5000, THRESHOLD, {"main"})
        self.assertEqual({sample.object_kind for sample in samples}, {"heap"})
        self.assertEqual(recording.rows("""
            SELECT alloc_function, size_bytes, allocations, samples FROM object_view"""),
            [("allocate_words", ACCESSES * WORD_BYTES, 1, len(samples))])

    def test_pages(self):
        """Their physical addresses, as the kernel told the program itself."""
        player = self.player("heap/record.out")
        pages = self.recording("heap/record.db").rows("""
            SELECT addr, phys_addr, page_bytes FROM sample JOIN sample_page USING (sample_id)""")
        self.assertEqual(len(pages), self.journal("heap").produced)
        for addr, phys_addr, page_bytes in pages:
            page = addr // PAGE_BYTES * PAGE_BYTES
            self.assertEqual((phys_addr - player.frames[page], page_bytes),
                             (addr - page, PAGE_BYTES))

    def test_shares(self):
        """perf mem and memlag make as many samples of the same script, and find the same
        shares of the levels. (They interrupt at different moments.)"""
        recorded = self.recording("shares/record.db").memory_samples()
        level_of = {int(line["data_src"], 16): line["level"] for line in sources()}
        levels = [level_of[sample[3]] for sample in
                  perf_script_samples(self.path("shares/script.out"), "cpu/mem-loads,")]
        self.assertGreater(len(levels), 1000)
        # A sample during the kernel's work for the thread does not count. There are a few more of
        # these under memlag, which reads counters.
        ours_ms = self.player("shares/record.out").cpu_ms["main"]
        theirs_ms = self.player("shares/perf.out").cpu_ms["main"]
        self.assertAlmostEqual((len(recorded) / ours_ms) / (len(levels) / theirs_ms), 1,
                               delta=0.08)
        for level in set(levels):
            share = levels.count(level) / len(levels)
            deviation = (2 * share * (1 - share) / len(levels)) ** 0.5
            ours = sum(sample.level == level for sample in recorded) / len(recorded)
            self.assertAlmostEqual(ours, share, delta=4 * deviation)


if __name__ == "__main__":
    unittest.main()
