#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag validate on the simulated PMU, whose counters have the known faults of real ones. It finds
# the faults, and later recordings leave out the faulty counters.
. "$SOURCE_DIR/tests/integration/library.sh"

# ---- usage ---------------------------------------------------------------------------
refused() # refused STATUS TEXT ARGUMENT...
{
        expected=$1 text=$2
        shift 2
        refuses "$expected" "$text" "$MEMLAG" validate "$@"
}

refused 2 "none of pebs, ibs and sim" --source clock
refused 2 "--source sim" --sim-prefetch off
refused 2 "no event 'nonsense'" --source sim nonsense
refused 2 "always tries all" --source sim --all
refused 2 "--all" --all --show
refused 1 "make one with 'memlag validate --source sim'" --source sim --show
refused 1 "make one with 'memlag validate --source sim --sim-cpu zen4 --sim-prefetch off'" \
        --source sim --sim-cpu zen4 --sim-prefetch off --show
refused 2 "nonsense" --source sim --sim-cpu nonsense
for file in wal shm journal; do # of a database without a name
        : >"./-$file"
done
TMPDIR=$PWD/no-such-directory refused 1 "in $PWD/no-such-directory: No such file" --source sim l1d_pend_miss.pending
rm ./-wal ./-shm ./-journal || fail "files of others are removed"
[ ! -e "$XDG_DATA_HOME" ] || fail "a failure has left something: $(find "$XDG_DATA_HOME")"

# ---- faults that are there by construction ---------------------------------------------
OFFCORE=offcore_response.demand_data_rd.l3_miss
LDM=cycle_activity.stalls_ldm_pending
# The trials are where TMPDIR says, however long that is, and nothing stays there.
TMPDIR=$PWD/a-directory-whose-name-is-longer-than-thirty-two-characters
export TMPDIR
mkdir "$TMPDIR"
"$MEMLAG" validate --source sim --sim-cpu skylake-sp --format json "$OFFCORE" "$LDM" dram.read_bytes \
        mem_load_retired.fb_hit >result.json
"$MEMLAG" validate --source sim --sim-cpu skylake-sp --show --format json >shown.json
cmp result.json shown.json
rmdir "$TMPDIR" || fail "trials are left"
unset TMPDIR
python result.json "$OFFCORE" "$LDM" <<'END'
document = json.load(open(sys.argv[1]))
offcore, ldm = sys.argv[2:]
events = {event["event"]: event for event in document["events"]}
assert events.keys() == {offcore, ldm, "dram.read_bytes", "mem_load_retired.fb_hit"}, events.keys()

# A demand event leaves out the lines that a prefetcher was first to ask for.
assert events[offcore]["verdict"] == "misses prefetch", events[offcore]
assert abs(events[offcore]["ratio"] - 1) < 0.02, events[offcore]
assert events[offcore]["prefetched_ratio"] < 0.8, events[offcore]
assert not events[offcore]["usable"]
# The memory controller counts all lines: a chase reads one line of a pair, the adjacent-line
# prefetcher brings the other.
assert events["dram.read_bytes"]["verdict"] == "counts prefetch too", events["dram.read_bytes"]
assert abs(events["dram.read_bytes"]["ratio"] - 2) < 0.05, events["dram.read_bytes"]
assert abs(events["dram.read_bytes"]["prefetched_ratio"] - 1) < 0.02
assert events["mem_load_retired.fb_hit"]["verdict"] == "exact", events["mem_load_retired.fb_hit"]
# Waits between dependent multiplications are none for memory (M17).
assert events[ldm]["verdict"] == "counts something else", events[ldm]
dependent, = (t for t in events[ldm]["trials"] if t["kernel"] == "chase, 24 dependent")
assert dependent["counted"] > 1.05 * dependent["most"], dependent
assert document["best"] == {"fb-hit": "mem_load_retired.fb_hit", "dram-read": "dram.read_bytes",
                            "demand-read": None, "memory-stalls": None}
END
# ---- a signal to it alone ----------------------------------------------------------------
# Whichever ends programs: once a trial runs, it ends with a line, and nothing is left.
cp -r "$XDG_DATA_HOME" before-signals
mkdir trials
TMPDIR=$PWD/trials python3 - "$MEMLAG" <<'END'
import glob
import os
import signal
import subprocess
import sys
import time

command = [sys.argv[1], "validate", "--source", "sim", "--sim-cpu", "skylake-sp",
           "dram.read_bytes"]
for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not glob.glob("trials/*/trial.db") and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == 1, (number, process.returncode, err)
    assert out == "" and err == "memlag validate: interrupted\n", (number, out, err)
    assert os.listdir("trials") == [], (number, os.listdir("trials"))
END
diff -r "$XDG_DATA_HOME" before-signals || fail "what was interrupted was kept"

# ---- record goes by it -------------------------------------------------------------------
counters() # counters OPTION...: what is recorded
{
        "$MEMLAG" record $SIM --force -o run.db "$@" -- true 2>err || fail "$(cat err)"
        "$MEMLAG" report -v run.db >>err
        answer run.db "SELECT name FROM counter"
}

recorded() # recorded EVENT
{
        grep -q "^$1$" recorded || fail "$1 is not recorded"
}
not_recorded() # not_recorded EVENT VERDICT: and it is said why
{
        ! grep -q "^$1$" recorded || fail "$1 is recorded"
        grep -q "not recorded: $1, by validation: $2" err || fail "not said: $(cat err)"
}

counters --sim-prefetch on >recorded
recorded dram.read_bytes
not_recorded "$OFFCORE" "misses prefetch"
not_recorded "$LDM" "counts something else"
# Where nothing is prefetched, nothing misses it.
counters >recorded
recorded "$OFFCORE"
not_recorded "$LDM" "counts something else"
counters --sim-prefetch on --all-counters >recorded
recorded "$OFFCORE"
counters --sim-prefetch on --sim-cpu haswell-ep >recorded
recorded "$OFFCORE" # another CPU's validation does not count
counters --sim-prefetch l2-streamer >recorded
recorded "$OFFCORE" # nor that of other prefetchers

# Counters that are not tried again keep their result, but not for other prefetchers.
"$MEMLAG" validate --source sim --sim-cpu skylake-sp --format json l1d_pend_miss.pending >again.json
"$MEMLAG" validate --source sim --sim-cpu skylake-sp --sim-prefetch off --format json "$OFFCORE" >off.json
python again.json off.json "$OFFCORE" <<'END'
again, off = ({event["event"]: event["verdict"] for event in json.load(open(name))["events"]}
              for name in sys.argv[1:3])
assert again["l1d_pend_miss.pending"] == "within bounds", again
assert again[sys.argv[3]] == "misses prefetch", again
assert off == {sys.argv[3]: "exact"}, off
END
counters >recorded
recorded "$LDM"

# ---- a counter that stands still -----------------------------------------------------------
# A reorder buffer of 16 instructions has no room for the loads that would fill 32 buffers.
# Of the preset as it is that says nothing.
SMALL="--sim-set core.rob_entries=16 --sim-set core.lfb_entries=32"
cp -r "$XDG_DATA_HOME" kept
"$MEMLAG" validate --source sim --sim-cpu skylake-sp $SMALL l1d_pend_miss.fb_full >dead 2>err || fail "$(cat err)"
says "(simulated, prefetch on), core.rob_entries=16, core.lfb_entries=32; validated" dead
grep -q "^l1d_pend_miss.fb_full .* dead$" dead || fail "$(cat dead)"
grep -q "fb-full *none is known to be right" dead || fail "$(cat dead)"
grep -q "^memlag validate: .*--sim-set.* not kept" err || fail "$(cat err)"
diff -r "$XDG_DATA_HOME" kept || fail "an experiment was kept"
! grep -q "$LDM" dead || fail "an experiment has what was found of the preset: $(cat dead)"
counters --sim-prefetch on >recorded
recorded l1d_pend_miss.fb_full
# Nor does a validation of the preset concern an experiment.
not_recorded "$LDM" "counts something else"
counters --sim-prefetch on $SMALL >recorded
recorded "$LDM"
recorded "$OFFCORE"
! grep -q "by validation" err || fail "$(cat err)"
refused 2 "is not kept" --source sim --show $SMALL

# ---- a damaged file, and one of another memlag -------------------------------------------
file=$(ls "$XDG_DATA_HOME"/memlag/*.counters-sim-skylake-sp-prefetch-on.json)
echo '{"format": 99}' >"$file"
refused 1 "format 99 is not the format" --source sim --sim-cpu skylake-sp --show
[ "$(wc -l <err)" -eq 1 ] || fail "a validation of the future: $(cat err)"
ends 1 "$MEMLAG" record $SIM --sim-prefetch on --force -o run.db -- true
echo '{"format": 1,' >"$file"
refused 1 "make it anew with 'memlag validate'" --source sim --sim-cpu skylake-sp --show
refuses 1 "make it anew with 'memlag validate'" "$MEMLAG" record $SIM --sim-prefetch on --force -o run.db -- true
