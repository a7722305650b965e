-- SPDX-License-Identifier: MIT
-- Data objects by the share of the cycles that they stalled, or of the latency of all samples
SELECT iif(stalled_ratio IS NULL, NULL, printf('%.1f', 100 * stalled_ratio)) AS stalled_percent,
       printf('%.1f', 100 * latency_share) AS latency_percent, samples, dram_samples,
       round(mean_latency_cycles, 1) AS mean_latency_cycles, contended_samples, verdict,
       object_kind, object, size_bytes, alloc_file, alloc_line,
       level_samples
FROM object_view
ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC
LIMIT 50;
