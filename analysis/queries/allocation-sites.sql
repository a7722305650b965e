-- SPDX-License-Identifier: MIT
-- Heap memory by allocation site, with the samples that fell into it
SELECT alloc_file, alloc_line, alloc_function, allocations, size_bytes, samples,
       round(mean_latency_cycles, 1) AS mean_latency_cycles, verdict
FROM object_view
WHERE object_kind = 'heap'
ORDER BY latency_share DESC, alloc_file, alloc_line;
