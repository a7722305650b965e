#!/bin/sh
# SPDX-License-Identifier: MIT
# The heap tracker, apart from the simulated PMU: programs that say what they do are
# run with a tracker whose events are written down, and with the real one; they behave
# as they do alone, and the events are what they said.
. "$SOURCE_DIR/tests/integration/library.sh"

src=$SOURCE_DIR/tests/integration/heap
: "${CC:=cc}" "${CXX:=c++}"

set --
for part in $TRACKER_PARTS; do
        set -- "$@" "$SOURCE_DIR/profiler/heap/$part"
done
$CC -D_GNU_SOURCE -O2 -shared -fPIC -fvisibility=hidden -fno-builtin \
        -ftls-model=initial-exec -Wl,-z,initfirst -Wl,-z,interpose \
        -I"$src" -I"$SOURCE_DIR/profiler/heap" -I"$SOURCE_DIR/profiler/code" -o vgpreload_memlag-amd64-linux.so \
        "$@" "$src/probe.c"
$CC -D_GNU_SOURCE -O2 -fno-builtin -o calls "$src/calls.c" -pthread
$CXX -D_GNU_SOURCE -std=c++17 -O2 -fno-builtin -o operators "$src/operators.cc"
$CXX -D_GNU_SOURCE -std=c++17 -O2 -fno-builtin -shared -fPIC -o plugin.so "$src/plugin.cc"
$CC -O2 -o host "$src/host.c"

# LD_PRELOAD cannot say a place with a space in its name, where this may be.
place=$(mktemp -d)
trap 'rm -r "$place"' EXIT
ln -s "$PWD" "$place/here"
ln -s "$BINARY_DIR" "$place/build"
probe=$place/here/vgpreload_memlag-amd64-linux.so
tracker=$(find "$place/build/" -name vgpreload_memlag-amd64-linux.so -path "*/valgrind/*" | head -n 1)
[ -f "$tracker" ]

# same_events STATUS COMMAND...
same_events() {
        wanted=$1
        shift
        status=0
        "$@" >alone.out 2>alone.err || status=$?
        [ "$status" -eq "$wanted" ]

        status=0
        LD_PRELOAD=$tracker "$@" >tracked.out 2>tracked.err || status=$?
        [ "$status" -eq "$wanted" ]
        cmp alone.out tracked.out
        cmp alone.err tracked.err

        status=0
        LD_PRELOAD=$probe "$@" >probed.out 2>probed.err 8>said 9>told || status=$?
        [ "$status" -eq "$wanted" ]
        cmp alone.out probed.out
        cmp alone.err probed.err
        sed -n '/^begin$/,/^end$/{/^begin$/d;/^end$/d;p}' told >events
        [ -s said ]
        diff -u said events
}

same_events 42 ./calls
same_events 42 ./calls threads
same_events 43 ./operators
same_events 44 ./host "$PWD/plugin.so"


# What the engine added to the environment is gone, and the user's own stays.
echo 'int engine;' >core.c
$CC -shared -fPIC -o core.so core.c
$CC -shared -fPIC -o user.so core.c
engine=$place/here/core.so:$probe
alone() {
        env -i A=1 "$@" B=2 "$(command -v env)"
}
inside() {
        env -i A=1 "$@" B=2 VALGRIND_LIB="$place/here" "$(command -v env)"
}
alone >wanted
inside LD_PRELOAD="$engine" >got
diff -u wanted got
alone LD_PRELOAD="$place/here/user.so" >wanted
inside LD_PRELOAD="$engine:$place/here/user.so" >got
diff -u wanted got
alone LD_PRELOAD= >wanted
inside LD_PRELOAD="$engine:" >got
diff -u wanted got
# Not inside the simulated PMU it touches nothing.
alone LD_PRELOAD="$tracker" VALGRIND_LIB=mine >got
grep -qx "LD_PRELOAD=$tracker" got
grep -qx VALGRIND_LIB=mine got
