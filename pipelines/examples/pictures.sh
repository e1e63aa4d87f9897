#!/usr/bin/env bash
# Makes the pictures of the README and of the cookbook from the runs of the pipelines; runs those that have not been run yet.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-bin} out=${OUT:-out} to=pipelines/examples/pictures

picture() { # NAME, options of bin/picture
    local name=$1
    shift
    [ -e "$out/$name/run.abut" ] || OUT=$out/$name pipelines/examples/"$name".sh
    "$bin"/picture "$out/$name/run.abut" --strip "$to/$name.png" "$@"
    echo "$to/$name.png"
}

mkdir -p "$to"
picture drop --frames 24,32,45,60 --size 400x340 --camera 32,18
picture squeeze --frames 0,30,50,74 --size 400x340 --camera 12,14 --color stress
picture twist --frames 15,40,80,125 --size 400x300 --camera 25,20 --color stress
picture bed --frames 0,12,24,60 --size 400x340 --camera 25,12
picture cloth --frames 0,14,22,40 --size 400x340 --camera 28,16

# the eight systems, by their commands in the README
(
    PATH=$(cd "$bin" && pwd):$PATH
    tree=$PWD
    sed -n '/^<!-- eight systems/,/^```$/p' README.md | sed "/^<!--/d; /^\`\`\`/d; /abut picture/d; s|out && cd out|'$out' \&\& cd '$out'|" > "$out/eight.sh"
    [ -e "$out/curved.abut" ] || bash -euo pipefail "$out/eight.sh"
    cd "$out"
    one() { abut picture "$1.abut" --strip "$tree/$to/$1.png" -f -1 --size 320x250 "${@:2}" && echo "$to/$1.png"; }
    one ipc --camera 32,18
    one dot --camera 12,14 --color stress
    one fall --camera 28,16
    one springs
    one lbfgs --camera 25,20 --color stress
    one hard
    one gipc --camera 25,12
    one curved --wireframe
)
