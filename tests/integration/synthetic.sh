# SPDX-License-Identifier: MIT
# To be sourced: makes synthetic.db, and compares answers with what they must be.

fail()
{
        echo "$(basename "$0" .sh): $*" >&2
        exit 1
}

synthetic_database()
{
        rm -f "$1" "$1"-*
        sqlite3 -bail "$1" ".read '$SOURCE_DIR/profiler/db/schema.sql'" \
                ".read '$SOURCE_DIR/tests/integration/synthetic.sql'"
}

# expect WHAT IS MUST_BE
expect()
{
        [ "$2" = "$3" ] || fail "$1: must be
$3
is
$2"
}

# The answer of plain sqlite3, apart from the program under test.
answer()
{
        sqlite3 -bail -readonly "$1" "$2"
}
