# Completion of `abut NAME ...` for bash: programs, then their options as `abut help NAME all` has them, then files.
_abut() {
    local word=${COMP_WORDS[COMP_CWORD]} words= abut=${COMP_WORDS[0]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ ${COMP_WORDS[1]} == help ]]; }; then
        words=$("$abut" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
        ((COMP_CWORD == 1)) && words+=" help --help --version"
    elif [[ $word == -* ]]; then
        words=$("$abut" help "${COMP_WORDS[1]}" all 2>/dev/null | sed -n 's/^  \(-[A-Za-z], \|    \)\(--[a-z0-9-]*\).*/\2/p')
    else
        COMPREPLY=($(compgen -f -- "$word"))
        return
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o filenames -F _abut abut
