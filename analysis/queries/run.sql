-- SPDX-License-Identifier: MIT
-- What was recorded, and how
SELECT key, value FROM run_info ORDER BY key;
