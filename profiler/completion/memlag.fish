# SPDX-License-Identifier: MIT
# What fish completes after 'memlag': the commands and their options, as --help names them.
# Words that are neither are files; what follows '--' is the recorded command's.
function __memlag_commands
    memlag --help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __memlag_options
    set -l words (commandline -opc)
    contains -- -- $words && return
    ARGP_HELP_FMT=rmargin=1000 memlag $words[2] --help |
        sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z-]*\)[^ ]*  *\(.*\)/\2\t\3/p'
end

complete -c memlag -n __fish_use_subcommand -f -a '(__memlag_commands)'
complete -c memlag -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' \
    -a '(__memlag_options)'
