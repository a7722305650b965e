# SPDX-License-Identifier: MIT
# What bash completes after 'memlag': the commands and their options, as --help names them.
# Words that are neither are files, and what follows '--' is the recorded command's.
_memlag()
{
        local word=${COMP_WORDS[COMP_CWORD]} words
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
                words=$("$1" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
        elif [[ $word == -* && " ${COMP_WORDS[*]:0:COMP_CWORD} " != *" -- "* ]]; then
                words=$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null |
                        grep -o -e '--[a-z][a-z-]*' | sort -u)
        else
                return
        fi
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _memlag memlag
