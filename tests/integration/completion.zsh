# SPDX-License-Identifier: MIT
# completion.zsh DIRECTORY TEXT: prints the command line that a <Tab> after TEXT leaves, in
# an interactive zsh with the completions of DIRECTORY.
zmodload zsh/zpty
zpty shell "PS1= zsh -f -i"
zpty -w shell "PROMPT= fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u; print ready"
zpty -r -m shell found $'*\nready*'
# Control-A and -E: the line becomes the argument of print.
zpty -w -n shell "$2"$'\t\x01print -r -- "<\x05>"\n'
zpty -r -m shell found $'*\n<*>*'
print -r -- ${${${(M)${(f)found}:#<*}#<}%>*}
