#!/bin/bash
# SPDX-License-Identifier: MIT
# What bash, zsh and fish themselves complete after 'memlag'.
. "$SOURCE_DIR/tests/integration/library.sh"
set -o pipefail

completions=$SOURCE_DIR/profiler/completion
PATH=$(dirname "$MEMLAG"):$PATH

# expect SHELL TEXT RESULT: offered by SHELL for the last word of TEXT, words in a line
expect()
{
        local found
        found=$("in_$1" "$2")
        [ "$found" = "$3" ] || fail "$1: $2<Tab> gives '$found', not '$3'"
}

in_bash()
{
        (
                # shellcheck source=/dev/null
                . "$completions/memlag.bash"
                read -r -a COMP_WORDS <<<"$1"
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _memlag memlag
                echo "${COMPREPLY[*]}"
        )
}

in_fish()
{
        fish --no-config -c "source '$completions/memlag.fish'; complete -C '$1'" | cut -f 1 | paste -s -d ' '
}

# The line that is left, less the text before its last word.
in_zsh()
{
        local line
        line=$(timeout 60 zsh -f "$SOURCE_DIR/tests/integration/completion.zsh" "$completions" "$1")
        echo "${line##* }"
}

for shell in bash fish zsh; do
        expect "$shell" 'memlag sy' symbolize
        expect "$shell" 'memlag report --fo' --format
        expect "$shell" 'memlag record --sim-s' --sim-set
done
for shell in bash fish; do
        expect "$shell" 'memlag re' 'record report'
        expect "$shell" 'memlag record -- ls --sim-s' ''
        expect "$shell" 'memlag report fi' ''
done
# After '--', zsh completes as the recorded command has it.
expect zsh 'memlag record -- memlag report --fo' --format
# Commands and options have the descriptions of --help.
fish --no-config -c "source '$completions/memlag.fish'; complete -C 'memlag report --form'" |
        grep -q $'^--format\ttable ' || fail "fish: no description of --format"
