-- SPDX-License-Identifier: MIT
-- Source lines whose loads waited while DRAM bandwidth was short
SELECT contended_samples, samples,
       round(100.0 * contended_samples / samples, 1) AS contended_percent,
       round(mean_latency_cycles, 1) AS mean_latency_cycles, verdict, file, line, function
FROM line_view
WHERE contended_samples > 0
ORDER BY contended_samples DESC, file, line;
