#!/bin/bash
# SPDX-License-Identifier: MIT
# Usage: tests/run.sh [--quick | --whole] [--sanitizers]
# Installs the packages that are missing, builds with warnings as errors and tests:
#   --quick       the unit tests and twenty others (tests/integration/CMakeLists.txt), in
#                 four minutes of two CPUs once build-test/ is built
#   --whole       the unit and integration tests, in build-test/
#   --sanitizers  the unit tests under the address and undefined-behaviour sanitizers
#                 (build-sanitize/), and the tests of code on several threads under the
#                 thread sanitizer (build-threads/)
# Without an option, everything: --whole --sanitizers. The last line is
# 'N passed, N failed'; the exit status is 0 when none failed. Tests that lack something
# here (perf events, a compiler) are skipped: they count as neither, and a line above names
# them. Above that stands the end of what each failed test printed.
set -eu -o pipefail

whole=false
quick=false
sanitizers=false
[ $# -gt 0 ] || set -- --whole --sanitizers
for option; do
        case $option in
        --whole) whole=true ;;
        --quick) quick=true ;;
        --sanitizers) sanitizers=true ;;
        *)
                echo "Usage: tests/run.sh [--quick | --whole] [--sanitizers]" >&2
                exit 2
                ;;
        esac
done

root=$(cd "$(dirname "$0")/.." && pwd)
jobs=$(nproc)
passed=0
failed=0
skipped=
failures=()

# build DIRECTORY TARGET CMAKE-OPTION...
build()
{
        local directory=$root/$1 target=$2
        shift 2
        mkdir -p "$directory"
        echo "== Building $target in $directory"
        if ! { cmake -S "$root" -B "$directory" -DMEMLAG_WERROR=ON -DMEMLAG_TESTS=ON "$@" &&
                cmake --build "$directory" --parallel "$jobs" --target "$target"; } \
                >"$directory/build.log" 2>&1 </dev/null; then
                cat "$directory/build.log" >&2
                echo "tests/run.sh: cannot build $target in $directory" >&2
                return 1
        fi
}

# Adds what ctest said in its summary, 'N% tests passed, N tests failed out of N'. It
# calls skipped tests passed.
count()
{
        local summary names
        names=$(sed -n 's/.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*/ \1/p' "$1" | tr -d '\n')
        skipped+=$names
        summary=$(sed -n 's/.*tests passed, \([0-9]*\) tests\{0,1\} failed out of \([0-9]*\)$/\1 \2/p' "$1")
        if [ -z "$summary" ]; then
                failed=$((failed + 1))
                return
        fi
        read -r bad all <<<"$summary"
        failed=$((failed + bad))
        passed=$((passed + all - bad - $(wc -w <<<"$names")))
}

# Prints, of each test that failed by a log of ctest, its line and the end of its output,
# which stands below that line.
ends_of_failed()
{
        awk -v lines=20 -v columns=400 '
                function say() {
                        if (name == "")
                                return
                        print "== " name
                        while (n > 0 && last[n] == "")
                                n--
                        for (i = n > lines ? n - lines + 1 : 1; i <= n; i++)
                                print substr(last[i], 1, columns)
                        name = ""
                }
                /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
                        say()
                        n = 0
                        if (/\*\*\*/ && !/\*\*\*Skipped/)
                                name = $0
                        next
                }
                /^ +Start +[0-9]+: / || /^[0-9]+% tests passed, / { say() }
                name != "" { last[++n] = $0 }
                END { say() }' "$1"
}

# run_tests DIRECTORY CTEST-OPTION...
run_tests()
{
        local directory=$root/$1
        shift
        echo "== Testing in $directory"
        ctest --test-dir "$directory" --no-tests=error --output-on-failure --parallel 2 "$@" \
                2>&1 </dev/null | tee "$directory/test.log" || true
        count "$directory/test.log"
        ends_of_failed "$directory/test.log" >"$directory/failed.log"
        failures+=("$directory/failed.log")
}

# build_and_test DIRECTORY TARGET CTEST-OPTIONS CMAKE-OPTION...
build_and_test()
{
        local directory=$1 target=$2 selection=$3
        shift 3
        if build "$directory" "$target" "$@"; then
                # shellcheck disable=SC2086 # a list
                run_tests "$directory" $selection
        else
                failed=$((failed + 1))
        fi
}

# install_readers LOG DIRECTORY: programs that read what memlag exports, which npm has and
# Debian has not. Where npm is missing, or too old for them, their test is skipped.
install_readers()
{
        command -v npm >/dev/null || return 0
        mkdir -p "$2"
        npm install --prefix "$2" --no-save --ignore-scripts --no-audit --no-fund \
                --fetch-timeout=30000 --fetch-retries=1 \
                speedscope@1.25.0 @firefox-devtools/profiler-cli@0.10.0 >>"$1" 2>&1 </dev/null
}

mkdir -p "$root/build-test"
. "$root/examples/packages.sh"
# shellcheck disable=SC2086 # lists of names
install_packages "$root/build-test/packages.log" $build_packages $test_packages
unpack_libcxx "$root/build-test/packages.log" "$root/build-test/libc++" ||
        echo "tests/run.sh: no headers of libc++: $(tail -n 1 "$root/build-test/packages.log")" >&2
install_readers "$root/build-test/packages.log" "$root/build-test/readers" ||
        echo "tests/run.sh: no readers of exports: $(tail -n 1 "$root/build-test/packages.log")" >&2

if $whole; then
        build_and_test build-test all ''
elif $quick; then
        build_and_test build-test all '--label-regex ^(unit|quick)$ --exclude-regex ^fuzz/'
fi
if $sanitizers; then
        export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
        build_and_test build-sanitize unit_tests '--label-regex ^unit$' \
                -DMEMLAG_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo
        build_and_test build-threads thread_tests '--label-regex ^threads$' \
                -DMEMLAG_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo
fi

cat -- "${failures[@]}" /dev/null
[ -z "$skipped" ] || echo "skipped:$skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
