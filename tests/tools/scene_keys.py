"""The keys by which mesh-prep reads scenes (--keys) and the tables of the documents: every key is in its document with its words
and its default, and every key of a table is one."""
import re, subprocess, sys
prep, formats = sys.argv[1:]
HOMES = [("objects.NAME.generate.", "GENERATORS"), ("objects.NAME.shell.pressure.factor.", "MOTIONS"),
         ("objects.NAME.shell.", "MATERIALS"), ("objects.NAME.rod.", "MATERIALS"),
         ("objects.NAME.particle.", "MATERIALS"), ("objects.NAME.sequence.", "MOTIONS"), ("materials.", "MATERIALS"),
         ("joints.NAME.weld.select.", "MOTIONS"),
         ("selections.", "MOTIONS"), ("motion.", "MOTIONS"), ("attachments.", "MOTIONS"), ("seams.", "MOTIONS"), ("", "SCENE")]
text = {d: open(f"{formats}/{d}.md").read() for d in ("SCENE", "MATERIALS", "GENERATORS", "MOTIONS")}
words = {d: set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]*)`", t) + re.findall(r"```yaml\n(.*?)```", t, re.S))))
         for d, t in text.items()}
said = subprocess.run([prep, "--keys"], stdout=subprocess.PIPE, text=True, check=True).stdout
keys = [line.split("\t") for line in said.splitlines()]
rows = {}                                       # of tables whose first column has keys: code of the first cell -> cells
for d, t in text.items():
    for table in re.findall(r"^(\|[^\n]*\n\|[-| ]+\|\n(?:\|.*\n)+)", t, re.M):
        head, _, *lines = table.splitlines()
        under = re.match(r"\| (?:generator|key)(?: of `(\w+)`)?", head)
        if not under:
            continue
        for line in lines:
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            for key in re.findall(r"`([^`]*)`", cells[0]):
                rows.setdefault((d, f"{under[1]}.{key}" if under[1] else key), []).append(cells)


def values(cell):
    """Numbers, with l where they have it, and words."""
    found = re.findall(r"([-+]?\d[\d.]*(?:e[-+]?\d+)?)( l)?|([a-z][\w-]*)", cell)
    return {w or (float(number), l) for number, l, w in found}


bad = []
for path, takes, limits, default in keys:
    home = next(d for prefix, d in HOMES if path.startswith(prefix))
    key = path.rsplit(".", 1)[-1]
    if key != "NAME" and key not in words[home]:
        bad.append(f"{path}: formats/{home}.md does not have `{key}`")
    if takes.startswith("one of "):
        bad += [f"{path}: formats/{home}.md does not have the word `{w}`" for w in takes[7:].split(", ") if w not in words[home]]
    for cells in rows.get((home, path), []):
        if default and len(cells) > 2 and not values(default) & values(cells[2]):
            bad.append(f"{path}: the default is {default}, formats/{home}.md says {cells[2]}")
paths = {p for p, *_ in keys}
for home, key in rows:
    if not any(p == key or p.endswith("." + key) for p in paths):
        bad.append(f"formats/{home}.md has the key `{key}`, mesh-prep --keys has not")
print(*bad, sep="\n")
assert len(keys) > 300 and len(rows) > 150, (len(keys), len(rows))
sys.exit(bool(bad))
