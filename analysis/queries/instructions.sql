-- SPDX-License-Identifier: MIT
-- Instructions that waited most: what they access, and where the data came from
SELECT module, printf('%x', address_offset) AS address, instruction, access_bytes,
       function, line, count(*) AS samples,
       round(avg(latency_cycles), 1) AS mean_latency_cycles,
       sum(level = 'L1') AS L1, sum(level = 'LFB') AS LFB, sum(level = 'L2') AS L2,
       sum(level = 'L3') AS L3, sum(level = 'DRAM') AS DRAM,
       sum(level LIKE 'REMOTE%') AS remote,
       sum(level NOT IN ('L1', 'LFB', 'L2', 'L3', 'DRAM', 'NA')
           AND level NOT LIKE 'REMOTE%') AS other,
       sum(level = 'NA') AS unknown
FROM sample_view JOIN sample_location USING (sample_id)
WHERE instruction IS NOT NULL
-- Not by the path: a file that was built anew during the run is two modules.
GROUP BY location_id
ORDER BY total(latency_cycles) DESC, module, address_offset, location_id
LIMIT 50;
