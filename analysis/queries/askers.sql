-- SPDX-License-Identifier: MIT
-- Lines that wait for what another had asked for (LFB); no asker: another function
SELECT file, line, function, samples, printf('%.0f', 100 * share) AS percent, asker_file,
       asker_line
FROM line_asker_view
LIMIT 50;
