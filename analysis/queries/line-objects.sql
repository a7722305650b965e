-- SPDX-License-Identifier: MIT
-- Which line waits for which data object
SELECT file, line, function, object_kind, object, samples,
       round(mean_latency_cycles, 1) AS mean_latency_cycles, contended_samples
FROM line_object_view
ORDER BY samples * mean_latency_cycles DESC, file, line
LIMIT 50;
