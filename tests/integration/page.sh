#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of memlag report --format html, in Chromium: its figures are those of the other
# reports, its parts lead to each other, nothing leaves it, and names stay text.
. "$SOURCE_DIR/tests/integration/library.sh"

for file in /usr/share/javascript/d3/d3.min.js /usr/share/javascript/jquery/jquery.min.js \
        /usr/share/javascript/jquery-datatables/jquery.dataTables.min.js; do
        [ -e $file ] || { echo "page: skipped: no $file" && exit 77; }
done
python=/usr/bin/python3 # Debian's, which has Debian's selenium
command -v chromium >/dev/null && command -v chromedriver >/dev/null && $python -c 'import selenium' ||
        { echo "page: skipped: no chromium, chromium-driver or python3-selenium" && exit 77; }

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
status=0
"$MEMLAG" report --format html --by object page.db >refused 2>err || status=$?
[ $status = 2 ] && [ ! -s refused ] || fail "--by with html: status $status"
status=0
"$MEMLAG" report --format html -o page.db page.db 2>err || status=$?
[ $status = 1 ] && [ "$(head -c 6 page.db)" = SQLite ] || fail "-o overwrites the recording"
# shellcheck disable=SC2016
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
        status=0
        unshare -m sh -c 'mount -t tmpfs none /usr/share/javascript && exec "$@"' - \
                "$MEMLAG" report --format html page.db >refused 2>err || status=$?
        [ $status = 1 ] && [ ! -s refused ] && grep -q 'libjs-d3$' err && [ "$(wc -l <err)" = 1 ] ||
                fail "without libraries: status $status, $(cat err)"
fi

$python "$SOURCE_DIR/tests/integration/page.py" "$MEMLAG" page.db page.c changed.db || fail "see above"
