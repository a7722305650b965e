-- SPDX-License-Identifier: MIT
-- Source lines by their share of the latency of all samples
SELECT printf('%.1f', 100 * latency_share) AS latency_percent, samples,
       round(mean_latency_cycles, 1) AS mean_latency_cycles, p95_latency_cycles,
       verdict, file, line, function
FROM line_view
ORDER BY latency_share DESC, samples DESC
LIMIT 50;
