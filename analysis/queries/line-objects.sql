-- SPDX-License-Identifier: MIT
-- Which line waits for which data object
SELECT file, line, function, object_kind, object, samples,
       round(mean_latency_cycles, 1) AS mean_latency_cycles, contended_samples,
       iif(stalled_ratio IS NULL, NULL, printf('%.1f', 100 * stalled_ratio)) AS stalled_percent
FROM line_object_view
ORDER BY stalled_ratio DESC, samples * mean_latency_cycles DESC, file, line
LIMIT 50;
