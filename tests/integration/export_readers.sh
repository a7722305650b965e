#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag export --format speedscope and firefox, read by speedscope and by the Firefox
# Profiler, which tests/run.sh installs with npm.
. "$SOURCE_DIR/tests/integration/library.sh"

readers=$BINARY_DIR/readers
python=/usr/bin/python3 # Debian's, which has Debian's selenium
{ [ -d "$readers/node_modules/speedscope" ] &&
        node "$readers/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" --version; } ||
        skip "no speedscope and profiler-cli in $readers (tests/run.sh, with npm)"
command -v chromium >/dev/null && command -v chromedriver >/dev/null && $python -c 'import selenium' ||
        skip "no chromium, chromium-driver or python3-selenium"

"$CC" -g -O1 -fno-optimize-sibling-calls -pthread -o calls "$SOURCE_DIR/tests/integration/export.c"
# shellcheck disable=SC2086
"$MEMLAG" record $SIM -o calls.db -- ./calls 2>record.err
$python "$SOURCE_DIR/tests/integration/export_readers.py" "$MEMLAG" "$readers" calls.db
