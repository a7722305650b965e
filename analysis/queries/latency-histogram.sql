-- SPDX-License-Identifier: MIT
-- Samples by latency, in powers of two
WITH RECURSIVE bucket (low, high) AS (
        VALUES (0, 1)
        UNION ALL
        SELECT high, 2 * high FROM bucket
        WHERE high <= (SELECT max(latency_cycles) FROM sample) AND high < (1 << 40)),
counted AS (
        SELECT latency_cycles, count(*) AS samples FROM sample
        WHERE latency_cycles >= 0 GROUP BY latency_cycles)
SELECT low AS from_cycles, high AS below_cycles, coalesce(sum(samples), 0) AS samples
FROM bucket LEFT JOIN counted ON latency_cycles >= low AND latency_cycles < high
GROUP BY low
ORDER BY low;
