-- SPDX-License-Identifier: MIT
-- Totals of all counters
SELECT name, sum(value) AS total, unit, stands_for
FROM counter LEFT JOIN reading USING (counter_id)
GROUP BY counter_id
ORDER BY name;
