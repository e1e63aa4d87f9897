"""Reads pages of export --html back and compares them with streams; looks at them in a browser.

    html_check.py numbers PAGE STREAM       every frame, decoded by rules of its own (formats/html/page_data.h)
    html_check.py browser PAGE STREAM       opens it, plays it, looks at pictures of it
    html_check.py hostile PAGE NAME...      opens a page whose objects have such names
    html_check.py lost PAGE COUNT           opens a page with points that are nowhere
    html_check.py look PAGE PICTURE         opens any page, plays it to its end, looks for every object, keeps what is seen
"""
import base64, html.parser, json, os, sys, time, zlib
import numpy as np

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), d) for d in (".", "../../formats/python")]
import abut_stream
from browser import Browser


class Scripts(html.parser.HTMLParser):
    """[(class or id, text)] of the script elements, in order; `other` counts what might ask for something."""

    def __init__(self, path):
        super().__init__(convert_charrefs=False)
        self.found, self.open, self.asks = [], None, []
        with open(path, encoding="utf-8", errors="replace") as f:
            self.feed(f.read())
        self.close()

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.asks += [v for k, v in attributes if k in ("src", "href", "srcset", "action", "data")] + [tag] * (tag in ("link", "img", "iframe", "object"))
        if tag == "script":
            self.open = a.get("class") or a.get("id") or ""
            self.found.append([self.open, ""])

    def handle_data(self, data):
        if self.open is not None:
            self.found[-1][1] += data

    def handle_endtag(self, tag):
        if tag == "script":
            self.open = None

    def of(self, name):
        return [text for n, text in self.found if n == name]


class Block:
    def __init__(self, text):
        self.raw = zlib.decompress(base64.b64decode(text))

    def grouped(self, size, start=0):
        """Numbers whose bytes are grouped by significance, still as differences."""
        b = np.frombuffer(self.raw[start:], "u1").reshape(size, -1).astype("u8")
        self.difference, self.bits, self.at = sum(b[k] << np.uint64(8 * k) for k in range(size)), 8 * size, 0

    def list(self, n):
        d = self.difference[self.at:self.at + n]
        assert len(d) == n, "a block ends early"
        self.at += n
        return (np.cumsum(d.astype("u8")) & np.uint64((1 << self.bits) - 1)).astype("i8")


def read_page(path):
    page = Scripts(path)
    assert not page.asks, page.asks
    head = json.loads(page.of("head")[0])
    models = []
    for text, block in zip(page.of("model"), page.of("model-block")):
        m, b = json.loads(text), Block(block)
        b.grouped(4)
        for p in m["parts"]:
            p["skin"], p["tri"] = b.list(p["vertices"]), b.list(3 * p["triangles"])
            p["seg"], p["dot"] = b.list(2 * p["segments"]), b.list(p["dots"])
        assert b.at == len(b.difference)
        models.append(m)
    frames = []
    for text, block in zip(page.of("frame"), page.of("frame-block")):
        f, b = json.loads(text), Block(block)
        parts = models[f["model"]]["parts"]
        box = np.frombuffer(b.raw, "<f4", 6 * len(parts)).reshape(-1, 2, 3).astype("f8")
        b.grouped(2, 24 * len(parts))
        f["x"] = [np.stack([lo[a] + size[a] * b.list(p["points"]) / 65534 for a in range(3)], 1) for p, (lo, size) in zip(parts, box)]
        f["step_x"] = box[:, 1].max(1) / 65534
        f["field"] = {}
        for field, r in zip(models[f["model"]]["fields"], f["ranges"]):
            code = b.list(sum(p["points"] for p in parts))
            lo, hi = (0, 0) if r is None else r[:2]
            f["field"][field["name"]] = np.where(code == 65535, np.nan, lo + (hi - lo) * code / 4095), (hi - lo) / 4095
        low, high = box[:, 0].min(0), (box[:, 0] + box[:, 1]).max(0)
        n = f["contacts"]
        f["at"] = np.stack([low[a] + (high[a] - low[a]) * b.list(n) / 65534 for a in range(3)], 1)
        f["newton"] = np.stack([(b.list(n) - 32767) / 32767 * (f["force"] or np.nan) for _ in range(3)], 1)
        assert b.at == len(b.difference)
        frames.append(f)
    return head, models, frames


def near(found, wanted, within, what):
    found, wanted = np.asarray(found, "f8"), np.asarray(wanted, "f8")
    assert (np.isnan(found) == np.isnan(wanted)).all(), "%s: unknown in other places" % what
    error = np.nanmax(np.abs(found - wanted), initial=0)
    assert error <= within, "%s: off by %g, allowed %g" % (what, error, within)


def node_mean(elements, value, nv):
    total, count = np.zeros(nv), np.zeros(nv)
    np.add.at(total, elements, value[:, None])
    np.add.at(count, elements, 1)
    with np.errstate(invalid="ignore"):
        return total / count


def von_mises(model, x):
    """Of the Cauchy stress of neo-Hookean tets: mu/J (F F^T - 1) + lambda/J ln J 1."""
    X, tet = model["node/X"], model["tet/node"]
    Dm = np.moveaxis(X[tet[:, 1:]] - X[tet[:, :1]], 1, 2)
    Ds = np.moveaxis(x[tet[:, 1:]] - x[tet[:, :1]], 1, 2)
    F = Ds @ np.linalg.inv(Dm)
    J = np.linalg.det(F)
    E, nu = (model["material/" + k][model["tet/material"]] for k in ("young", "poisson"))
    mu, lam = E / (2 + 2 * nu), E * nu / ((1 + nu) * (1 - 2 * nu))
    s = (mu / J)[:, None, None] * (F @ np.swapaxes(F, 1, 2) - np.eye(3)) + (lam * np.log(J) / J)[:, None, None] * np.eye(3)
    d = s - np.trace(s, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    return np.sqrt(1.5 * (d * d).sum((1, 2))), J


def numbers(path, stream):
    head, models, frames = read_page(path)
    items = list(abut_stream.read(stream))
    model, states = items[0], [i for i in items if i.kind == "frame"]
    assert len(models) == 1 and len(frames) == len(states)
    names, body = model["object/name"].split("\n"), model["node/object"]
    assert [h["tool"] for h in head["history"]] == [p[0] for p in abut_stream.read(stream).prov]
    # points of a part: nodes of its object that are on the surface, ascending; found by their place in the first frame
    nodes = []
    for p, x in zip(models[0]["parts"], frames[0]["x"]):
        own = np.flatnonzero(body == p["object"])
        assert names[p["object"]] == p["name"]
        d = ((x[:, None] - states[0]["node/x"][own][None]) ** 2).sum(2)
        nodes.append(own[d.argmin(1)])
        assert (np.diff(nodes[-1]) > 0).all()
        corner = nodes[-1][p["skin"][p["tri"]]].reshape(-1, 3)     # closed and outward, where it is a solid
        if p["solid"]:
            X = model["node/X"]
            assert np.einsum("ij,ij->", X[corner[:, 0]], np.cross(X[corner[:, 1]], X[corner[:, 2]])) > 0
            edges = np.concatenate([corner[:, [a, (a + 1) % 3]] for a in range(3)])
            assert set(map(tuple, edges)) == set(map(tuple, edges[:, ::-1]))
    every = np.concatenate(nodes)
    touched = 0
    for f, s in zip(frames, states):
        x, v = s["node/x"], s["node/v"]
        assert f["step"] == s.step and f["time"] == s.time
        for k, own in enumerate(nodes):
            near(f["x"][k], x[own], 0.51 * f["step_x"][k] + 1e-7 * np.abs(x[own]).max(), "positions")
        stress, J = von_mises(model, x)
        want = {"displacement": np.linalg.norm(x - model["node/X"], axis=1), "speed": np.linalg.norm(v, axis=1),
                "stress": node_mean(model["tet/node"], stress, len(x)), "J": node_mean(model["tet/node"], J, len(x)),
                "contact-force": np.linalg.norm(s["node/contact-force"], axis=1) if "node/contact-force" in s.arrays else None}
        for name, value in want.items():
            found, step = f["field"][name]
            if value is not None:
                noise = 1e-12 * model["material/young"].max() if name == "stress" else 0     # of a body at rest
                near(found, value[every], 0.51 * step + 1e-9 * np.nanmax(np.abs(value)) + noise, name)
        gap = f["field"]["gap"][0]
        if f["contacts"]:
            touched += 1
            near(np.nanmin(gap), f["numbers"]["gap_m"], f["field"]["gap"][1], "the smallest gap")
            # the half-space carries what all node forces come to: those between bodies cancel
            if "node/contact-force" in s.arrays:
                below = f["at"][:, 1] < model["contact/dhat"]
                near(f["newton"][below].sum(0), s["node/contact-force"].sum(0), (0.51 * below.sum() + 1) * f["force"] / 32767,
                     "forces on the floor")
        else:
            assert np.isnan(gap).all()
    assert touched > 2
    print("%d frames agree" % len(frames))


def color_of(image, rgb, spread=40):
    """Places (x, y) of pixels whose hue is that of an object: their colour is a multiple of it."""
    c = np.asarray(rgb, "f8")
    im = image.astype("f8")
    scale = (im @ c) / (c @ c)
    off = np.abs(im - scale[..., None] * c).max(2)
    ys, xs = np.nonzero((off < spread * np.maximum(scale, 0.3)) & (scale > 0.35) & (im.max(2) - im.min(2) > 45))
    return xs, ys


def browser(path, stream):
    _, models, frames = read_page(path)
    color = {p["name"]: [int(p["color"][i:i + 2], 16) for i in (1, 3, 5)] for p in models[0]["parts"]}
    last = len(frames) - 1
    url = "file://" + os.path.abspath(path)
    with Browser() as b:
        page = b.open(url)
        page.wait("!!(window.abut && abut.frame)")
        # what the page decodes is what is decoded here
        for i in (0, last):
            x = np.array(page.evaluate("abut.source.frame(%d).then((f) => Array.from(f.x))" % i)).reshape(-1, 3)
            near(x, np.concatenate(frames[i]["x"]), 1e-6, "positions in the browser")
        fields = [f["name"] for f in models[0]["fields"]]
        got = page.evaluate("abut.source.frame(%d).then((f) => f.fields.map((v) => Array.from(v, (u) => Number.isNaN(u) ? null : u)))" % last)
        for name, v in zip(fields, got):
            want, step = frames[last]["field"][name]
            near(np.array(v, "f8"), want, 1e-5 * max(step * 4095, 1e-30) + 1e-6 * np.nanmax(np.abs(want), initial=0), "%s in the browser" % name)
        # objects are where they should be: seen from the side, the ball above the bar, and lower at the end
        page.evaluate("(abut.state.view = [0, 0, 1], abut.home())")
        view = page.evaluate("(() => { const r = document.getElementById('view').getBoundingClientRect(); return [r.right, r.bottom]; })()")

        def seen(name, image):
            """Ends in x and y of what is to be seen of an object: columns and rows with at least two of its pixels."""
            xs, ys = color_of(image[:int(view[1]), :int(view[0])], color[name])
            assert len(xs) > 300, "%s is not to be seen: %d pixels" % (name, len(xs))
            return [f(np.flatnonzero(np.bincount(a) > 1)) for a in (xs, ys) for f in (np.min, np.max)]

        def projected(name, i):
            """The same of its points by the camera that the page has, computed here."""
            k = [p["name"] for p in models[0]["parts"]].index(name)
            m = page.evaluate("(() => { const c = abut.stage.camera; c.updateMatrixWorld(); return [c.matrixWorldInverse.elements, c.projectionMatrix.elements]; })()")
            V, P = (np.array(e).reshape(4, 4).T for e in m)
            q = np.concatenate([frames[i]["x"][k], np.ones((len(frames[i]["x"][k]), 1))], 1) @ (P @ V).T
            u, v = (q[:, 0] / q[:, 3] + 1) / 2 * view[0], (1 - q[:, 1] / q[:, 3]) / 2 * view[1]
            return [u.min(), u.max(), v.min(), v.max()]
        heights = []
        for i in (0, last):
            page.evaluate("abut.go(%d)" % i)
            image = page.screenshot(os.environ.get("SHOTS") and os.environ["SHOTS"] + "-%d.png" % i)
            near(seen("high", image), projected("high", i), 5, "the upper body in frame %d" % i)
            near(seen("low", image)[:2], projected("low", i)[:2], 5, "the lower body, in part hidden, in frame %d" % i)
            heights.append(seen("high", image)[3])
        near(heights[1] > heights[0] + 3, True, 0, "the upper body falls")
        # hiding, colours, fields, wireframe, clipping change what is seen
        hidden = page.evaluate("(abut.state.hidden.add('high'), abut.restyle())") or page.screenshot()
        near(len(color_of(hidden[:int(view[1]), :int(view[0])], color["high"])[0]) < 50, True, 0, "a hidden body is gone")
        page.evaluate("(abut.state.hidden.clear(), abut.state.colors.set('high', '#00aa00'), abut.restyle())")
        green = page.screenshot()
        near(len(color_of(green[:int(view[1]), :int(view[0])], [0, 170, 0])[0]) > 300, True, 0, "a body in another colour")
        page.evaluate("(abut.state.colors.clear(), abut.state.field = 'stress', abut.state.contacts = abut.state.arrows = true, abut.restyle())")
        painted = page.screenshot(os.environ.get("SHOTS") and os.environ["SHOTS"] + "-stress.png")
        near(page.evaluate("document.getElementById('legend').textContent").startswith("von Mises stress, Pa"), True, 0, "the legend")
        near(np.abs(painted.astype("i4") - green).mean() > 1, True, 0, "colours of stress")
        page.evaluate("(abut.state.clip = 'x', abut.state.field = '', abut.state.contacts = abut.state.arrows = false, abut.restyle())")
        clipped = page.screenshot()
        near(len(color_of(clipped[:int(view[1]), :int(view[0])], color["low"])[0]) <
             0.8 * len(color_of(image[:int(view[1]), :int(view[0])], color["low"])[0]), True, 0, "half of a body is clipped")
        # playing reaches the end; the controls say so
        page.evaluate("(abut.state.clip = '', abut.go(0).then(() => { abut.state.speed = 100; document.getElementById('play').click(); }))")
        page.wait("!abut.playing && abut.at === %d" % last)
        near(page.evaluate("document.getElementById('label').textContent").startswith("frame %d" % frames[last]["index"]), True, 0, "the label")
        # a picture of the scene is a PNG with the scene in it
        url = page.evaluate("abut.picture().toDataURL('image/png')")
        shot = b.pixels(url.split(",")[1])
        near(len(color_of(shot, color["low"])[0]) > 300, True, 0, "the screenshot shows the lower body")
        assert not page.trouble, page.trouble
        # an address says how to look
        page = b.open("file://" + os.path.abspath(path) + "#frame=%d&field=gap&surface=wire&hide=low&view=0,90,1" % last)
        page.wait("!!(window.abut && abut.frame)")
        assert page.evaluate("[abut.at, abut.state.field, abut.state.surface, [...abut.state.hidden]]") == [last, "gap", "wire", ["low"]]
        assert not page.trouble, page.trouble
    print("the page plays")


def hostile(path, names):
    with Browser() as b:
        page = b.open("file://" + os.path.abspath(path))
        page.wait("!!(window.abut && abut.frame)")
        assert page.evaluate("Array.from(document.querySelectorAll('#objects label'), (e) => e.textContent.slice(1))") == names
        assert page.evaluate("window.hacked === undefined && document.querySelectorAll('#objects script, #objects img, #objects b').length === 0")
        assert not page.trouble, page.trouble


def lost(path, count):
    with Browser() as b:
        page = b.open("file://" + os.path.abspath(path))
        page.wait("!!(window.abut && abut.frame)")
        for i in range(page.evaluate("abut.source.frames.length")):
            page.evaluate("abut.go(%d)" % i)
        assert page.evaluate("document.getElementById('notice').textContent").startswith("%s points" % count)
        assert not page.trouble, page.trouble


def look(path, picture):
    with Browser() as b:
        page = b.open("file://" + os.path.abspath(path))
        page.wait("!!(window.abut && abut.frame)")
        last = page.evaluate("abut.source.frames.length") - 1
        first = page.screenshot().astype("i4")
        page.evaluate("abut.go(0).then(() => { abut.state.speed = 100; document.getElementById('play').click(); })")
        page.wait("!abut.playing && abut.at === %d" % last, 300)
        page.evaluate("(abut.state.field = 'displacement', abut.restyle())")
        seen = page.screenshot(picture).astype("i4")
        assert not last or (abs(seen - first).max(2) > 20).sum() > 300, "the end looks like the beginning"
        names = page.evaluate("abut.source.models[abut.frame.meta.model].parts.map((p) => p.name)")
        assert names
        for name in names:
            page.evaluate("(abut.state.hidden.clear(), abut.state.hidden.add(%s), abut.restyle())" % json.dumps(name))
            gone = (abs(page.screenshot() - seen).max(2) > 20).sum()
            assert gone > 100, "%s is not to be seen: %d pixels" % (name, gone)
        assert not page.trouble, page.trouble
    print("chromium plays %d frames of %s, without complaint" % (last + 1, ", ".join(names)))


if __name__ == "__main__":
    what, path, *rest = sys.argv[1:]
    {"numbers": lambda: numbers(path, rest[0]), "browser": lambda: browser(path, rest[0]), "hostile": lambda: hostile(path, rest),
     "lost": lambda: lost(path, rest[0]), "look": lambda: look(path, rest[0])}[what]()
