-- SPDX-License-Identifier: MIT
-- The calibration of the machine that the recording was made with
SELECT path, value FROM calibration_view;
