#!/bin/sh
# SPDX-License-Identifier: MIT
# Reports on some of a recording's processes or threads, or a part of its time: held against
# sums over the samples themselves, made by sqlite3; all kinds of report agree.
. "$SOURCE_DIR/tests/integration/library.sh"

# ---- a script that runs two programs; one has a forked child and two threads ----
program stroll -DWALK=stroll <<'EOT'
#ifndef WALK
#define WALK walk
#endif
static volatile char field[1 << 22];
__attribute__((noinline)) void WALK(long rounds)
{
        for (long i = 0; i < rounds; i++)
                field[i * 4099 % sizeof(field)]++;
}
static void *thread(void *rounds)
{
        WALK((long)rounds);
        return NULL;
}
int main(int argc, char **argv)
{
        long rounds = atol(argv[1]);
        pthread_t other;
        if (argc > 2 && fork() == 0)
                _exit((WALK(rounds / 2), 0));
        if (argc > 2) {
                pthread_create(&other, NULL, thread, (void *)rounds);
                pthread_join(other, NULL);
        }
        WALK(rounds);
        while (wait(NULL) > 0)
                ;
        return 0;
}
EOT
compile -DWALK=march -o march stroll.c
cat >both <<'EOT'
#!/bin/sh
./stroll 200000
./march 400000 fork
EOT
chmod +x both
"$MEMLAG" record --source sim --interval 1 -o run.db -- ./both 2>err || fail "$(cat err)"
sum=$(cksum run.db)

python3 "$SOURCE_DIR/tests/integration/selection.py" "$MEMLAG" run.db "$PWD"

# ---- errors ----
ends 1 "$MEMLAG" report --process nobody run.db >out
[ "$(wc -l <err)" = 1 ] || fail "no such process: $(cat err)"
ends 1 "$MEMLAG" report --phase 999999 run.db >out
[ "$(wc -l <err)" = 1 ] || fail "no such phase: $(cat err)"
ends 2 "$MEMLAG" report --phase 0 run.db >out
ends 2 "$MEMLAG" report --pid x run.db >out
ends 2 "$MEMLAG" report --process '' run.db >out
ends 2 "$MEMLAG" report --time 3-2 run.db >out
ends 2 "$MEMLAG" report --time 3 run.db >out
for kind in interval phase allocation; do
        ends 2 "$MEMLAG" report --by $kind --thread 1 run.db >out
done

# ---- nothing is selected: no advice to record in another way ----
"$MEMLAG" report --time 3600000- run.db >out 2>err || fail "the time after the end: $(cat err)"
grep -q '^What is selected has too few samples' out || fail "nothing is selected: $(cat out)"
! grep -q "memlag record'\|--period" out || fail "advice on an empty selection: $(cat out)"

# ---- of a view's text in the file only the view is made ----
cp run.db odd.db
python <<'END'
with sqlite3.connect("odd.db") as db: # sqlite3's own shell may refuse
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = sql || '; SELECT harm()' WHERE name = 'phase_view'")
END
"$MEMLAG" report --time 0- odd.db >out 2>err || fail "what follows a view is run: $(cat err)"

# ---- the recording stays as it is, also where it cannot be written ----
[ "$(cksum run.db)" = "$sum" ] || fail "a report has changed the recording"
