#compdef abut
# Completion of `abut NAME ...` for zsh: programs, then their options as `abut help NAME all` has them, then files.
_abut() {
    local -a found
    if (( CURRENT == 2 )) || { (( CURRENT == 3 )) && [[ $words[2] == help ]] }; then
        found=(${(f)"$($words[1] --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
        (( CURRENT == 2 )) && found+=('help:shows the options of a program' '--help:lists the programs' '--version:shows the version')
        _describe program found
    elif [[ $words[CURRENT] == -* ]]; then
        found=(${(f)"$($words[1] help $words[2] all 2>/dev/null |
            sed -n 's/^  \(-[A-Za-z], \|    \)\(--[a-z0-9-]*\)\( [^ ][^ ]*\)\{0,1\} *\(.*\)/\2:\4/p')"})
        _describe -o option found
    else
        _files
    fi
}
_abut "$@"
