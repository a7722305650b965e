-- SPDX-License-Identifier: MIT
-- Source lines by the share of the cycles that they stalled, or of the latency of all samples
SELECT iif(stalled_ratio IS NULL, NULL, printf('%.1f', 100 * stalled_ratio)) AS stalled_percent,
       printf('%.1f', 100 * latency_share) AS latency_percent, samples,
       round(mean_latency_cycles, 1) AS mean_latency_cycles, p95_latency_cycles,
       verdict, file, line, function
FROM line_view
ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC
LIMIT 50;
