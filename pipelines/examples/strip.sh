# Sourced by the scripts that draw their runs: strip OPTIONS draws $out/run.abut into $out/strip.png, with options of picture.
# Where picture was not built, as EGL and OpenGL were not found, it says so and goes on.

strip() {
    if [ -x "$bin"/picture ]; then
        "$bin"/picture "$out/run.abut" --strip "$out/strip.png" "$@"
        echo "$(basename "$0" .sh): $out/strip.png (pictures)"
    else
        echo "$(basename "$0" .sh): no pictures, $bin/picture was not built: it needs the packages libegl-dev and libgl-dev" >&2
    fi
}
