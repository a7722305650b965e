#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of memlag report --format html, in Chromium: its figures equal the other reports', its
# parts lead to each other, nothing leaves it, and names stay text.
. "$SOURCE_DIR/tests/integration/library.sh"

for file in /usr/share/javascript/d3/d3.min.js /usr/share/javascript/jquery/jquery.min.js \
        /usr/share/javascript/jquery-datatables/jquery.dataTables.min.js; do
        [ -e $file ] || skip "no $file"
done
python=/usr/bin/python3 # Debian's, which has Debian's selenium
command -v chromium >/dev/null && command -v chromedriver >/dev/null && $python -c 'import selenium' ||
        skip "no chromium, chromium-driver or python3-selenium"

cp "$SOURCE_DIR/tests/integration/page.c" .
"$CC" -g -O1 -o program page.c
"$CC" -g -O1 -DNODES=4000 -o changed page.c
for program in program changed; do
        "$MEMLAG" record --force --sim-cpu skylake-sp --sim-prefetch off --call-graph fp --period 97 \
                --interval 0.5 -o $program.db -- ./$program >out.txt 2>record.txt ||
                fail "record: $(cat record.txt)"
done
mv program.db page.db

# ---- what it refuses ----
ends 2 "$MEMLAG" report --format html --by object page.db >refused
[ ! -s refused ] || fail "--by with html: $(cat refused)"
cp page.db other.db
for command in "report --format html" "diff page.db"; do
        # shellcheck disable=SC2086
        ends 1 "$MEMLAG" $command -o page.db page.db
        # shellcheck disable=SC2086
        ends 1 "$MEMLAG" $command -o other.db page.db
done
cmp page.db other.db || fail "-o overwrites a recording"
# shellcheck disable=SC2016
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
        refuses 1 'libjs-d3$' unshare -m sh -c 'mount -t tmpfs none /usr/share/javascript && exec "$@"' - \
                "$MEMLAG" report --format html page.db
        [ ! -s out ] && [ "$(wc -l <err)" = 1 ] || fail "without libraries: $(cat out err)"
fi

$python "$SOURCE_DIR/tests/integration/page.py" "$MEMLAG" page.db page.c changed.db || fail "see above"
