#!/usr/bin/env python3
"""documents.py ROOT: what the documents of the tree ROOT promise their readers; a line for each broken promise, status 1.

top        git keeps nothing at the top but the folders and files of TOP
limits     README, CONTRIBUTING and others are no longer than they may be
links      files and headings that documents point to exist; so do the documents that other files name
sources    files that documents name in `...` exist, from the root, lib/ or the document's folder; `*` matches, NAME is a placeholder
hashes     no commit hashes: a word of 7 to 12 hexadecimal digits with a letter and a digit, not after a point, but in
           the first lines of tables, `<!-- commit date machine command -->`
tables     a head, a line of dashes, as many cells in each row; a cell has at most 30 words
floors     CONTRIBUTING lists the floors of tests/layers.txt in their order, each with its rooms
glossary   docs/GLOSSARY.md: at most 60 terms, a line each, each in the code under the name in `...`
"""
import glob
import os
import re
import subprocess
import sys

TOP = set(""".ci .clang-format .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE Makefile README.md abut docs formats lib packaging
pipelines tests tools""".split())
LINES = {"README.md": 150, "CONTRIBUTING.md": 150, "tests/bench/README.md": 150, "docs/ARCHITECTURE.md": 100}


def slug(heading, seen):
    """The anchor that the usual renderers give a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    seen[text] = seen.get(text, -1) + 1
    return text if not seen[text] else f"{text}-{seen[text]}"


def prose(text):
    """The lines of a document outside of code, numbered."""
    code = False
    for n, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield n, line


def anchors(text):
    seen, found = {}, set()
    for _, line in prose(text):
        if m := re.match(r"#+ +(.*)", line):
            found.add(slug(m[1], seen))
        found.update(re.findall(r'<a id="([^"]*)"', line))
    return found


def main(root):
    os.chdir(root)
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    files = [f for f in names.stdout.split("\n") if os.path.isfile(f)]
    if not files:       # no checkout: all that is there
        files = [os.path.relpath(os.path.join(d, f)) for d, _, fs in os.walk(".") for f in fs]
    kept = subprocess.run(["git", "ls-files"], capture_output=True, text=True).stdout.split()
    bad = [f"{name}: has no place at the top" for name in sorted({f.split("/")[0] for f in kept} - TOP)]
    documents = {f: open(f, encoding="utf-8").read() for f in files if f.endswith(".md")}
    for f, limit in LINES.items():
        if f in documents and (n := documents[f].count("\n")) > limit:
            bad.append(f"{f}: {n} lines, at most {limit}")

    for f, text in documents.items():
        rows = []       # of the table so far: (line, cells, whether of dashes)
        for n, line in [*prose(text), (0, "")]:
            if line.startswith("|"):
                rows.append((n, len(re.split(r"(?<!\\)\|", line)), bool(re.fullmatch(r"[|\s:-]+", line))))
            elif rows:
                if len(rows) < 2 or not rows[1][2]:
                    bad.append(f"{f}:{rows[0][0]}: a table without a head and a line of dashes")
                head = rows[0][1]
                bad += [f"{f}:{k}: {cells - 2} cells, {head - 2} in the head" for k, cells, _ in rows if cells != head]
                rows = []
        for n, line in prose(text):
            for path in re.findall(r"`([\w.*/-]+/[\w.*-]+\.(?:c|h|sh|py|bats|md|tsv)|(?:docs|formats|lib|pipelines|tests|tools)/[\w.*/-]+)`", line):
                if "NAME" not in path and not any(
                        map(glob.glob, (path, path + ".*", "lib/" + path, os.path.join(os.path.dirname(f), path)))):
                    bad.append(f"{f}:{n}: no source {path}")
            line = re.sub(r"`[^`]*`", "", line)
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(f), path)) if path else f
                if not os.path.exists(path):
                    bad.append(f"{f}:{n}: no file {path}")
                elif anchor and path in documents and anchor not in anchors(documents[path]):
                    bad.append(f"{f}:{n}: no heading #{anchor} in {path}")
            if line.startswith("|"):
                for cell in re.split(r"(?<!\\)\|", line)[1:-1]:
                    if len(cell.split()) > 30:
                        bad.append(f"{f}:{n}: a cell of {len(cell.split())} words, at most 30: {cell.strip()[:40]}...")
        for n, line in enumerate(text.split("\n"), 1):
            if re.match(r"<!-- [0-9a-f]{12}\t\d{4}-\d\d-\d\d\t", line):      # which version a table shows
                continue
            for word in re.findall(r"(?<!\.)\b[0-9a-f]{7,12}\b", line):
                if re.search("[0-9]", word) and re.search("[a-f]", word) and not re.fullmatch(r"[0-9]+e[0-9]+", word):
                    bad.append(f"{f}:{n}: a commit hash? {word}")

    for f in files:
        if not f.endswith((".c", ".h", ".cu", ".py", ".sh", ".bats", ".txt")) or f.startswith("tests/tools/documents"):
            continue
        for n, line in enumerate(open(f, encoding="utf-8", errors="replace"), 1):
            for path in re.findall(r"(?<![\w$/.])((?:docs|formats|pipelines|tests|lib)/[\w./-]*\.md|README\.md|CONTRIBUTING\.md)\b", line):
                if not os.path.exists(path) and "TMP" not in line:
                    bad.append(f"{f}:{n}: no file {path}")

    if "CONTRIBUTING.md" in documents and os.path.exists("tests/layers.txt"):
        plan = [l.split()[1:] for l in open("tests/layers.txt") if l.startswith("floor ")]
        plan = [(f[0], [r for r in f[1:] if r != "*"]) for f in plan]
        table = re.findall(r"^\| `(?:lib/)?(\w+)`(?:: `([\w -]+)`)?[^|]*\| ", documents["CONTRIBUTING.md"], re.M)
        table = [(name, rooms.split()) for name, rooms in table]
        for a, b in zip(plan, table):
            if a[0] != b[0] or (a[1] != b[1] and a[0] != "tools"):      # tools: a room for each program
                bad.append(f"CONTRIBUTING.md: floor {b[0]} of {b[1]}, expected {a[0]} of {a[1]}, as in tests/layers.txt")
                break
        else:
            if len(plan) != len(table):
                bad.append(f"CONTRIBUTING.md: {len(table)} floors, expected the {len(plan)} of tests/layers.txt")

    if "docs/GLOSSARY.md" in documents:
        terms = [(n, l) for n, l in prose(documents["docs/GLOSSARY.md"]) if l.startswith("- ")]
        if not 0 < len(terms) <= 60:
            bad.append(f"docs/GLOSSARY.md: {len(terms)} terms, expected 1 to 60")
        code = "".join(open(f, encoding="utf-8", errors="replace").read() for f in files
                       if f.startswith(("lib/", "formats/", "tools/")) and f.endswith((".c", ".h", ".cu", ".cc")))
        for n, line in terms:
            m = re.match(r"- \*\*[^*]+\*\* \(`([^`]+)`\): ", line)
            if not m:
                bad.append(f"docs/GLOSSARY.md:{n}: expected - **term** (`name in the code`): meaning")
            elif not re.search(r"(?<!\w)" + re.escape(m[1]), code):
                bad.append(f"docs/GLOSSARY.md:{n}: no `{m[1]}` in the code")
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
