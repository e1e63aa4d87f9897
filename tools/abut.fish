# Completion of `abut NAME ...` for fish: programs, then their options as `abut help NAME all` has them, then files.
function __abut_words
    commandline -opc
end
function __abut_programs
    set -l abut (__abut_words)[1]
    $abut --help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*)  +(.*)$' '$1\t$2'
end
function __abut_options
    set -l words (__abut_words)
    $words[1] help $words[2] all 2>/dev/null | string replace -rf '^  (?:-[A-Za-z], |    )(--[a-z0-9-]+)(?: \S+)? *(.*)$' '$1\t$2'
end
function __abut_names_program
    set -l words (__abut_words)
    test (count $words) -eq 1; or begin; test (count $words) -eq 2; and test $words[2] = help; end
end
complete -c abut -f -n __abut_names_program -a '(__abut_programs)'
complete -c abut -f -n 'test (count (__abut_words)) -eq 1' -a 'help --help --version'
complete -c abut -n 'not __abut_names_program; and string match -q -- "-*" (commandline -ct)' -f -a '(__abut_options)'
