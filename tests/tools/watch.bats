#!/usr/bin/env bats
# watch: the page of a run that goes on, served at the loopback address.
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    TMP=$BATS_TEST_TMPDIR
    two_boxes 2 0.35 > two.yaml
    "$BIN/mesh-prep" -q two.yaml -o start.abut
}
teardown() { for p in ${W:-} ${S:-}; do kill "$p" 2> /dev/null || true; done; }

# watching COMMAND ...: starts it in the background with the pipe `feed` as its input; its number is $W, the address $url
watching() {
    mkfifo feed
    : > said
    "$@" < feed > out 2> said &
    W=$!
    exec 9> feed
    for ((i = 0; i < 100; i++)); do
        url=$(sed -n 's/^watch: \(http.*\)$/\1/p' said)
        [ -z "$url" ] || return 0
        kill -0 "$W" || { cat said; return 1; }
        sleep 0.1
    done
    return 1
}
# code CURL-ARGUMENT ...: the status of the answer
code() { curl -s -m 20 -o body -w '%{http_code}' "$@"; }
skip_without_curl() { skip_without_program curl; }

@test "watch --help names its options and exits 0" {
    exits 0 "$BIN/watch" --help
    writes --port; writes --report; writes loopback
}

@test "watch passes a stream on byte by byte, and ends with it" {
    "$BIN/step" -q -n 3 start.abut -o run.abut
    exits 0 timeout 20 "$BIN/watch" run.abut -o passed.abut
    cmp run.abut passed.abut
    "$BIN/step" -q -n 3 start.abut | timeout 20 "$BIN/watch" -q | cmp - run.abut
    exits 0 timeout 20 "$BIN/watch" < run.abut
    { cat run.abut | head -c -9; } > cut.abut
    exits 3 timeout 20 "$BIN/watch" cut.abut -o cut.out
    [ ! -e cut.out ]
}

@test "options that make no sense are refused" {
    exits 2 "$BIN/watch" --port 70000 start.abut
    says "--port 70000"
    exits 2 "$BIN/watch" --keep start.abut -o out.abut
    says "--keep"
    exits 2 "$BIN/watch" --keep start.abut > piped
    says "the output at a terminal or > /dev/null"
    timeout -s INT 2 "$BIN/watch" --keep start.abut > /dev/null 2> kept || status=$?
    [ "$status" -eq 124 ]
    grep http://127.0.0.1 kept
}

@test "frames are there as soon as they are made; the rest is refused" {
    skip_without_curl
    "$BIN/step" -q -n 4 start.abut -o run.abut
    { printf '{"step": 1, "newton_iterations": 5}\n'; printf '{"step": 2'; } > report.jsonl
    watching "$BIN/watch" --report report.jsonl
    # the head of the stream comes with its first bytes: nothing else yet
    size=$(stat -c %s run.abut)
    head -c $((size * 6 / 10)) run.abut >&9
    for ((i = 0; i < 100; i++)); do
        curl -s "${url}status" > status
        n=$(grep -o '"total":[0-9]*' status | tr -dc 0-9)
        [ "$n" -lt 2 ] || break
        sleep 0.1
    done
    [ "$n" -ge 2 ]
    [ "$n" -lt 5 ]
    grep -q '"ended":false' status
    "$PYTHON" - "$n" <<'P'
import json, sys
s = json.load(open("status"))
assert len(s["frames"]) == int(sys.argv[1]) and len(s["models"]) == 1 and s["frames"][1]["step"] == 1, s
assert [json.loads(r)["newton_iterations"] for r in s["reports"]] == [5], "whole lines alone"
P
    # every block is a zlib stream of the size that the text tells
    [ "$(code "${url}frame/1")" = 200 ]
    "$PYTHON" - <<'P'
import json, zlib
s = json.load(open("status"))
f, m = s["frames"][1], s["models"][0]
points = sum(p["points"] for p in m["parts"])
raw = zlib.decompress(open("body", "rb").read())
assert len(raw) == 24 * len(m["parts"]) + 2 * ((3 + len(m["fields"])) * points + 6 * f["contacts"]), len(raw)
P
    [ "$(code "${url}model/0")" = 200 ]
    [ "$(code "$url")" = 200 ]
    grep -q '"live":true' body
    [ "$(code -I "$url")" = 200 ]
    for bad in frame/9999 frame/-1 frame/1x frame/ model/1 favicon.ico statusx ../etc/passwd ..%2f..%2fetc/passwd; do
        [ "$(code --path-as-is "$url$bad")" = 404 ]
    done
    for method in POST PUT DELETE OPTIONS TRACE PATCH; do [ "$(code -X $method "$url")" = 405 ]; done
    [ "$(code -d x=1 "${url}status")" = 405 ]
    [ "$(code -H 'Host: evil.example' "$url")" = 403 ]
    [ "$(code -H 'Host:' "$url")" = 400 ]
    [ "$(code -H "A: $(head -c 9000 /dev/zero | tr '\0' a)" "$url")" = 431 ]
    port=${url##*:}; port=${port%/}
    printf '\026\003\001\r\n' | timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3; cat <&3" | grep -q '^HTTP/1.1 400'
    # it listens at 127.0.0.1 alone: no other address of this machine answers
    for other in $(hostname -I 2> /dev/null | tr ' ' '\n' | grep -F .); do
        exits 7 curl -s -m 5 "http://$other:$port/"
    done
    # a second one cannot have the port, and says so
    exits 5 "$BIN/watch" --port "$port" run.abut
    says "127.0.0.1:$port"
    # the end: what was missing, and why nothing more comes
    printf ', "newton_iterations": 7}\n' >> report.jsonl
    tail -c +$((size * 6 / 10 + 1)) run.abut >&9
    [ "$(code "${url}status")" = 200 ]      # a page that is open keeps it there for a moment
    exec 9>&-
    for ((i = 0; i < 100; i++)); do
        curl -s "${url}status?frames=4&models=1&reports=1" > status || break
        ! grep -q '"ended":true' status || break
        sleep 0.05
    done
    "$PYTHON" -c '
import json
s = json.load(open("status"))
assert s["ended"] and s["total"] == 5 and s["message"] == "ended: 5 frames" and len(s["frames"]) == 1 and not s["models"], s
assert json.loads(s["reports"][0])["newton_iterations"] == 7'
    wait "$W"
    cmp out run.abut
}

# bats test_tags=slow
@test "connections that say nothing, or half of something, hold nobody up" {
    skip_without_curl
    "$BIN/step" -q -n 1 start.abut -o run.abut
    watching "$BIN/watch"
    head -c 100 run.abut >&9
    port=${url##*:}; port=${port%/}
    for ((i = 0; i < 40; i++)); do
        exec {fd}<> "/dev/tcp/127.0.0.1/$port"
        printf 'GET / HT' >&"$fd"
        slow[i]=$fd
    done
    for ((i = 0; i < 150; i++)); do
        [ "$(code "$url")" = 200 ] && break
        sleep 0.1
    done
    [ "$(code "$url")" = 200 ]
    timeout 5 cat <&"${slow[0]}" | grep -q '^HTTP/1.1 408'
    tail -c +101 run.abut >&9
    exec 9>&-
    for fd in "${slow[@]}"; do exec {fd}>&-; done
    wait "$W"
    cmp out run.abut
}

# ends_within SECONDS: the program being watched ends by itself
ends_within() {
    local i
    for ((i = 0; i < 10 * $1; i++)); do
        kill -0 "$W" 2> /dev/null || { wait "$W"; return; }
        sleep 0.1
    done
    echo "still there after $1 s"
    return 1
}

@test "requests that are refused do not keep it after the end of its stream, one that is served does for 1.5 s" {
    skip_without_curl
    watching "$BIN/watch"
    cat start.abut >&9
    [ "$(code "$url")" = 200 ]
    (exec 9>&-; while kill -0 "$W" 2> /dev/null; do
        curl -s -m 2 -o /dev/null -H 'Host: evil.example' "$url" || break
        curl -s -m 2 -o /dev/null "${url}favicon.ico" -X POST "$url" || break
        sleep 0.2
    done) &
    refused=$!
    exec 9>&-
    ended=$EPOCHSECONDS
    sleep 0.7
    [ "$(code "${url}status")" = 200 ]
    sleep 0.9           # 1.6 s after the end, 0.9 s after the request, unless the machine is busy
    kill -0 "$W" || ((EPOCHSECONDS - ended > 2))
    ends_within 4
    wait "$refused"
    cmp out start.abut
}

# stalls COUNT STREAM: watches the stream without its last 4000 bytes; that many connections ask for 8 MB of a report, more than
# the system keeps for them, and never read
stalls() {
    { head -c 40000 /dev/zero | tr '\0' 1; echo; } > line
    for ((i = 0; i < 200; i++)); do cat line; done > report.jsonl
    watching "$BIN/watch" --report report.jsonl
    head -c -4000 "$2" >&9
    for ((i = 0; i < 50; i++)); do
        curl -s "${url}status?reports=199" | grep -q '"lines":200' && break
        sleep 0.1
    done
    [ "$i" -lt 50 ]
    (exec 9>&-; exec "$PYTHON" - "$url" "$@") <<'P' &
import socket, sys, time
host, port = sys.argv[1][7:-1].split(":")
all = []
for i in range(int(sys.argv[2])):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.connect((host, int(port)))
    s.sendall(b"GET /status HTTP/1.1\r\nHost: localhost:%s\r\n\r\n" % port.encode())
    all.append(s)
open("stalled", "w")
time.sleep(60)
P
    S=$!
    for ((i = 0; i < 100; i++)); do [ ! -e stalled ] || return 0; sleep 0.1; done
    return 1
}

@test "readers that never read hold up neither the stream nor its end" {
    skip_without_curl
    "$BIN/step" -q -n 5 start.abut -o run.abut
    size=$(stat -c %s run.abut)
    stalls 4 run.abut
    timeout 5 tail -c 4000 run.abut >&9
    for ((i = 0; i < 20; i++)); do
        [ "$(stat -c %s out)" -lt $((size - 100)) ] || break
        sleep 0.1
    done
    [ "$i" -lt 20 ]     # all but the end mark, before the end of the input
    [ "$(code "${url}status")" = 200 ]
    exec 9>&-
    ends_within 4
    kill "$S"
    cmp out run.abut
}

@test "a browser follows a run and has every frame when it has ended" {
    skip_without_numpy
    command -v "${CHROMIUM:-chromium}" > /dev/null || skip "no chromium"
    "$BIN/step" -q -n 30 start.abut -o run.abut
    watching "$BIN/watch"
    (exec 9>&-; "$PYTHON" - "$url" run.abut feed) <<P &
import os, sys, time
sys.path.insert(0, "$BATS_TEST_DIRNAME")
from browser import Browser
url, path, feed = sys.argv[1], sys.argv[2], os.open(sys.argv[3], os.O_WRONLY)
data = open(path, "rb").read()
with Browser() as b:
    page = b.open(url)
    half = len(data) // 2
    os.write(feed, data[:1000])
    at = 1000
    while at < half:
        at += os.write(feed, data[at:min(at + 65536, half)])
    page.wait("abut.at > 3 && abut.at === abut.source.frames.length - 1")
    seen = page.evaluate("abut.at")
    while at < len(data):
        at += os.write(feed, data[at:at + 65536])
    os.close(feed)
    page.wait("abut.source.ended && abut.at === 30")
    assert page.evaluate("document.getElementById('live').textContent") == "ended: 31 frames"
    assert page.evaluate("document.getElementById('history').textContent").startswith("mesh-prep")
    while not page.evaluate("abut.go(0).then(() => abut.at === 0)"):
        pass
    time.sleep(3)       # the program has gone; every frame is still there
    for i in range(31):
        assert page.evaluate("abut.go(%d).then(() => abut.frame.meta.index)" % i) == i
    assert not page.trouble, page.trouble
P
    looks=$!
    sleep 0.5
    exec 9>&-       # the browser's test feeds it alone
    wait "$looks"
    wait "$W"
    cmp out run.abut
}
