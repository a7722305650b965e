-- SPDX-License-Identifier: MIT
-- What told the types of samples: which pointer, and of an allocation after which call
SELECT type, type_source, type_pointer, type_function, type_file, type_line,
       count(*) AS samples
FROM sample_view
WHERE type_source IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY samples DESC, 1, 2, 3, 4, 5, 6
LIMIT 50;
