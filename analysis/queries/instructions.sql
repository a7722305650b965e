-- SPDX-License-Identifier: MIT
-- Instructions that waited most: what they access, and where the data came from
SELECT module, printf('%x', address_offset) AS address, instruction, access_bytes,
       function, line, count(*) AS samples,
       round(avg(latency_cycles), 1) AS mean_latency_cycles,
       sum(level = 'L1') AS L1, sum(level = 'LFB') AS LFB, sum(level = 'L2') AS L2,
       sum(level = 'L3') AS L3, sum(level = 'DRAM') AS DRAM,
       sum(level LIKE 'REMOTE%') AS remote,
       sum(level NOT IN ('L1', 'LFB', 'L2', 'L3', 'DRAM') AND level NOT LIKE 'REMOTE%')
               AS other
FROM sample_view
WHERE instruction IS NOT NULL
GROUP BY module, address_offset
ORDER BY total(latency_cycles) DESC, module, address_offset
LIMIT 50;
