"""Curves over logarithmic axes as SVG: no library, the same bytes for the same numbers.

    panels([(title, x label, y label, [(name, [(x, y), ...]), ...]), ...], columns)
"""
import math

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 300, 62, 12, 30, 44


def limits(values):
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max(0.05 * (high - low), 0.05)
    return low - room, high + room


def ticks(low, high):
    """Powers of ten, and where there are few of them 2 and 5 times those."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    found = [(e, 1) for e in powers if low <= e <= high]
    if len(found) < 3:
        found = [(e, m) for e in powers for m in (1, 2, 5) if low <= e + math.log10(m) <= high]
    while len(found) > 8:
        found = found[::2]
    return [(e + math.log10(m), "%g" % (m * 10.0 ** e)) for e, m in found]


def panel(title, x_label, y_label, curves, left, top):
    points = [p for _, c in curves for p in c]
    (x0, x1), (y0, y1) = limits([p[0] for p in points]), limits([p[1] for p in points])
    w, h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    px = lambda x: left + LEFT + (math.log10(x) - x0) / (x1 - x0) * w                     # noqa: E731
    py = lambda y: top + TOP + (y1 - math.log10(y)) / (y1 - y0) * h                       # noqa: E731
    out = ['<text x="%.1f" y="%.1f" class="t">%s</text>' % (left + LEFT + w / 2, top + 18, title),
           '<text x="%.1f" y="%.1f" class="m">%s</text>' % (left + LEFT + w / 2, top + HEIGHT - 8, x_label),
           '<text transform="translate(%.1f,%.1f) rotate(-90)" class="m">%s</text>' % (left + 12, top + TOP + h / 2, y_label)]
    for at, text in ticks(x0, x1):
        x = left + LEFT + (at - x0) / (x1 - x0) * w
        out.append('<path d="M%.1f %.1fv%.1f" class="g"/><text x="%.1f" y="%.1f" class="m">%s</text>'
                   % (x, top + TOP, h, x, top + TOP + h + 15, text))
    for at, text in ticks(y0, y1):
        y = top + TOP + (y1 - at) / (y1 - y0) * h
        out.append('<path d="M%.1f %.1fh%.1f" class="g"/><text x="%.1f" y="%.1f" class="e">%s</text>'
                   % (left + LEFT, y, w, left + LEFT - 4, y + 4, text))
    for i, (name, curve) in enumerate(curves):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join("%.1f,%.1f" % (px(x), py(y)) for x, y in curve)
        out.append('<polyline points="%s" stroke="%s" class="c"/>' % (line, colour))
        out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (px(x), py(y), colour) for x, y in curve]
        out.append('<text x="%.1f" y="%.1f" fill="%s" class="e">%s</text>'
                   % (left + WIDTH - RIGHT - 6, top + TOP + 15 + 15 * i, colour, name))
    return out


def panels(rows, columns=2):
    """The text of an SVG with one panel for each row."""
    out = []
    for i, row in enumerate(rows):
        out += panel(*row, WIDTH * (i % columns), HEIGHT * (i // columns))
    size = WIDTH * columns, HEIGHT * -(-len(rows) // columns)
    head = ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">'
            '<style>.t{text-anchor:middle;font-weight:bold}.m{text-anchor:middle}.e{text-anchor:end}'
            '.g{stroke:#ddd;fill:none}.c{fill:none;stroke-width:1.5}</style><rect width="100%%" height="100%%" fill="#fff"/>')
    return "\n".join([head % (size + size)] + out + ["</svg>"]) + "\n"
