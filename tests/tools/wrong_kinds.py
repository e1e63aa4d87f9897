"""Every value of scenes, replaced by a text, a list and a map where it is none: what mesh-prep says has the place, the path of keys,
what was found, and what was expected."""
import json, re, subprocess, sys
prep, *names = sys.argv[1:]
WRONG = {"text": "zzz", "list": [["zzz"], 1, 2, 3, 4], "map": {"zzz": 1}}


def kind(v):
    return "map" if isinstance(v, dict) else "list" if isinstance(v, list) else "text"


def values(tree, path=()):
    for key, v in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield (*path, key), v
        if kind(v) != "text":
            yield from values(v, (*path, key))


def with_value(tree, path, v):
    copy = json.loads(json.dumps(tree))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = v
    return copy


seen, tried, bad = set(), 0, 0
for name in names:
    tree = json.loads(subprocess.run([prep, "--to-json", name], stdout=subprocess.PIPE, check=True).stdout)
    for path, old in values(tree):
        what = tuple("#" if isinstance(k, int) else k for k in path[-3:])
        for wrong in WRONG:
            if wrong == kind(old) or (what, wrong) in seen:
                continue
            seen.add((what, wrong))
            with open("wrong.yaml", "w") as f:
                json.dump(with_value(tree, path, WRONG[wrong]), f, indent=1)
            run = subprocess.run([prep, "wrong.yaml"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said, key = run.stderr.split("\n")[0], ".".join(map(str, path))
            tried += 1
            place = re.match(r"\S*mesh-prep: wrong\.yaml:\d+:\d+: ", said)
            found = {"text": "'zzz'", "list": "is a list of ", "map": "zzz"}[wrong]
            hint = "expected" in said or "did you mean" in said
            named = f"(key {key}" in said or "unknown key" in said or " is called 'zzz'" in said
            if not named or run.returncode != 3 or not place or found not in said or not hint:
                print(run.returncode, key, wrong, said)
                bad += 1
assert tried > 600, tried
sys.exit(bad > 0)
