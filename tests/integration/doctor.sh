#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag doctor on this machine, compared with the kernel and other programs: as a table and as
# JSON, without rights, and with missing parts.
. "$SOURCE_DIR/tests/integration/library.sh"

# field TOPIC FIELD: of the first finding about TOPIC in the file json
field()
{
        as_json "next(f for f in it if f['topic'] == '$1')['$2']" <json
}

contains()
{
        case $1 in
        *"$2"*) ;;
        *) fail "'$1' does not say '$2'" ;;
        esac
}

"$MEMLAG" doctor --help | grep -q 'Usage: memlag doctor' || fail "no help"
for bad in --format=xml --no-such-option argument; do
        ends 2 "$MEMLAG" doctor "$bad" >out
        [ ! -s out ] || fail "'$bad' printed findings"
done

"$MEMLAG" doctor >table || fail "the simulated PMU does not work here: $(grep ' sim ' table)"
"$MEMLAG" doctor --format json >json
python <<'END' || fail "table and JSON are not of the same findings"
findings = json.load(open("json"))
lines = open("table").read().splitlines()
assert len(findings) == len(lines)
for finding, line in zip(findings, lines):
    assert set(finding) == {"topic", "status", "finding", "remedy"}
    assert line.split()[:2] == [finding["status"], finding["topic"]]
    assert finding["finding"] in line and (finding["remedy"] or "") in line
    assert finding["status"] in ("ok", "note", "missing")
    if finding["status"] == "ok":
        assert finding["remedy"] is None
END

model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
contains "$(field cpu finding)" "$model"
case $(grep -w -m 1 -o hypervisor /proc/cpuinfo) in
hypervisor) contains "$(field virtual finding)" "a virtual machine" ;;
*) contains "$(field virtual finding)" "no virtual machine" ;;
esac
contains "$(field paranoid finding)" "is $(cat /proc/sys/kernel/perf_event_paranoid)"
contains "$(field kptr finding)" "is $(cat /proc/sys/kernel/kptr_restrict)"
if ls -d /sys/bus/event_source/devices/cpu* >/dev/null 2>&1; then
        expect "a core PMU" "$(field pmu status)" ok
else
        expect "no core PMU" "$(field pmu status)" missing
        contains "$(field pmu remedy)" "--source sim"
fi
DEBUGINFOD_URLS=https://example.org "$MEMLAG" doctor | grep -q 'servers are set' ||
        fail "DEBUGINFOD_URLS is not seen"

# A full disk is reported.
ends 1 "$MEMLAG" doctor >/dev/full
says '^memlag doctor: .*No space left'

# The program alone cannot record; it says so, and how to mend it.
mkdir -p alone/bin
cp "$MEMLAG" alone/bin/memlag
ends 1 alone/bin/memlag doctor --format json >json
[ "$(field sim status)" = missing ] || fail "missing parts are not missed"
contains "$(field sim remedy)" "install memlag again"

# Without rights: only root can give them up, and only where others may look.
unprivileged()
{
        setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all \
                --inh-caps=-all "$@"
}
chmod 755 . alone alone/bin
if [ "$(id -u)" -ne 0 ] || ! unprivileged test -x "$PWD/alone/bin/memlag"; then
        echo "SKIPPED: the findings without rights cannot be tried here"
        exit 0
fi
unprivileged "$PWD/alone/bin/memlag" doctor --format json >json || true # no sim there
contains "$(field perfmon finding)" "no CAP_PERFMON"
contains "$(field perfmon remedy)" "setcap"
contains "$(field mlock finding)" "$(cat /proc/sys/kernel/perf_event_mlock_kb) KiB"
