#!/bin/sh
# SPDX-License-Identifier: MIT
# For any words behind a command: its message is one line without control characters, and all
# options read numbers alike.
. "$SOURCE_DIR/tests/integration/library.sh"

# An escape sequence, the same in C1 (UTF-8), a bell, an end of line and a carriage return.
odd=$(printf 'o\033[31md\302\2331md\007\n\rend')
stray=$(printf '\001-\010\013\014\016-\037\177')

# The first line says what is wrong; the next, or two, say how to get help.
refused()
{
        status=0
        "$MEMLAG" "$@" >out 2>err </dev/null || status=$?
        case $status in
        1 | 2 | 127) ;; # 127: no such program to record
        *) fail "memlag $*: status $status" ;;
        esac
        [ -s err ] || fail "memlag $*: says nothing"
        LC_ALL=C tr -d "$stray" <err | cmp -s - err || fail "memlag $*: control characters: $(cat -v err)"
        ! LC_ALL=C grep -q "$(printf '\302[\200-\237]')" err || fail "memlag $*: C1: $(cat -v err)"
        ! grep -v -e '^memlag' -e '^Try ' -e '^information\.$' err || fail "memlag $*: another line"
        [ "$(wc -l <err)" -le 3 ] || fail "memlag $*: $(cat err)"
        [ ! -s out ] || fail "memlag $*: writes to standard output"
}

# Each option with a value, before what ends the command in any case.
values()
{
        command=$1
        shift
        options=$("$MEMLAG" "$command" --help | grep -o -e '--[a-z-]*=' -e '^ *-[a-zA-Z],' | tr -d ' ,')
        for option in $options; do
                case $option in
                --*=) refused "$command" "$@" "$option$odd" && refused "$command" "$@" "${option%=}" "$odd" ;;
                *) refused "$command" "$@" "$option$odd" ;;
                esac
        done
}

commands=$("$MEMLAG" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 13 ] || fail "commands: $commands"
for command in $commands; do
        refused "$command" "--$odd"
        refused "$command" "--no-such=$odd"
        refused "$command" "--help=$odd"
        refused "$command" "-$odd"
        refused "$command" "$(printf -- '-\033')"
        # If the option's value is valid, an unknown option still gives a clean message.
        refused "$command" "--no-such" "$odd"
        case $command in
        # Without more these begin to measure.
        calibrate) refused calibrate "$odd" && refused calibrate "--picture=$odd" --export=xml &&
                refused calibrate "--export=$odd" ;;
        validate) refused validate --source sim --sim-cpu "$odd" && values validate --all --show ;;
        bench) refused bench "$odd" && refused bench chase "$odd" && values bench chase ;;
        record) values record && refused record $SIM -- "./$odd" ;;
        doctor) refused doctor "$odd" && values doctor ;;
        *) refused "$command" "$odd" && values "$command" ;;
        esac
done
refused "$odd"
refused help "$odd"
refused query none.db --name "$odd"
refused query "$odd" "$odd" "$odd"
refused diff a b "$odd"
refused report --by=caller --sort "$odd" none.db

# The recorded program gets its words unchanged, even if they look like options.
"$MEMLAG" record $SIM -o run.db -- printf '%s' "--$odd" >out 2>err || fail "$(cat err)"
[ "$(cat out; echo .)" = "--$odd." ] || fail "the program got $(cat -v out)"
"$MEMLAG" record $SIM --force -o run.db printf '%s' "--$odd" >out 2>err || fail "$(cat err)"
[ "$(cat out; echo .)" = "--$odd." ] || fail "without '--' the program got $(cat -v out)"

# ---- numbers ----
# The last word is the option.
numbers()
{
        for number in 0x10 0X8 1e1 +5 -5 ' 5' '5 ' nan inf '' 5x; do
                refused "$@" "$number"
                grep -q -e "'$number' is not a" err || fail "$* '$number': $(cat err)"
        done
}
for option in --period --freq --duration --interval --ldlat --mmap-pages --pid; do
        numbers record "$option"
done
numbers import --interval
numbers report --top
numbers diff a b --top
numbers annotate --context
numbers annotate --top
for option in --size --passes --threads --stride --block --independent --dependent --node; do
        numbers bench chase "$option"
done
numbers bench memread --delay
numbers bench load --width
for number in 0x10 1e1 +5 -5 nan inf 5x; do
        refused record $SIM --sim-set "l2.ways=$number" -- true
        grep -q -e "'$number' is not a number" err || fail "--sim-set l2.ways=$number: $(cat err)"
done
