// Energies, iterations and smallest gap over time, under the time slider.
"use strict";

const STRIPS = [
    { title: "energy, J", lines: [["kinetic_J", "kinetic", "#d8637c"], ["elastic_J", "elastic", "#4f9fc6"], ["gravity_J", "gravity", "#6fae75"],
        ["barrier_J", "barrier", "#b57bb8"], ["total_J", "total", "#23303d"]] },
    { title: "iterations", bars: true, lines: [["iterations", "Newton", "#5e7f99"]] },
    { title: "gap, m", log: true, lines: [["gap_m", "smallest", "#a8642a"]] },
];

/** Three strips over one axis of time.  seek(i) is called with the frame under the pointer. */
class Graph {
    constructor(canvas, seek) {
        this.canvas = canvas;
        this.rows = [];
        this.clock = [];
        this.at = 0;
        const pointed = (e) => {
            if (!e.buttons || !this.rows.length) return;
            const box = canvas.getBoundingClientRect(), u = (e.clientX - box.left - this.left()) / (box.width - this.left() - 4);
            seek(nearest(this.clock, this.clock[0] + u * (this.clock.at(-1) - this.clock[0])));
        };
        canvas.addEventListener("pointerdown", pointed);
        canvas.addEventListener("pointermove", pointed);
    }

    left() { return 170; }

    /** rows: the numbers of every frame; clock: ascending, s. */
    set(rows, clock) {
        this.rows = rows;
        this.clock = clock;
        this.draw();
    }

    show(i) {
        this.at = i;
        this.draw();
    }

    draw() {
        const scale = Math.min(window.devicePixelRatio || 1, 2), w = this.canvas.clientWidth, h = this.canvas.clientHeight;
        if (!w || !this.rows.length) return;
        this.canvas.width = w * scale;
        this.canvas.height = h * scale;
        const c = this.canvas.getContext("2d");
        c.scale(scale, scale);
        c.font = "11px system-ui, sans-serif";
        c.textBaseline = "top";
        const heights = [0.5, 0.25, 0.25];
        let y = 0;
        STRIPS.forEach((strip, k) => {
            this.strip(c, strip, this.left(), y + 2, w - this.left() - 4, heights[k] * h - 6);
            y += heights[k] * h;
        });
        const x = this.x(this.at, this.left(), w - this.left() - 4);
        c.strokeStyle = "#00000088";
        c.beginPath();
        c.moveTo(x, 0);
        c.lineTo(x, h);
        c.stroke();
    }

    x(i, left, width) {
        const t0 = this.clock[0], t1 = this.clock.at(-1);
        return left + width * (t1 > t0 ? (this.clock[i] - t0) / (t1 - t0) : 0.5);
    }

    strip(c, strip, left, top, width, height) {
        const known = strip.lines.filter(([key]) => this.rows.some((r) => Number.isFinite(r[key])));
        const value = (v) => strip.log ? (v > 0 ? Math.log10(v) : NaN) : v;
        let low = Infinity, high = -Infinity;
        for (const [key] of known)
            for (const r of this.rows) {
                const v = Number.isFinite(r[key]) ? value(r[key]) : NaN;
                if (!Number.isNaN(v)) low = Math.min(low, v), high = Math.max(high, v);
            }
        if (strip.bars) low = 0;
        if (!(low < high)) low -= 0.5, high += 0.5;
        c.fillStyle = "#f5f6f8";
        c.fillRect(left, top, width, height);
        c.fillStyle = "#5b6672";
        c.fillText(strip.title, 0, top);
        const y = (v) => top + height - 1 - (height - 2) * (value(v) - low) / (high - low);
        known.forEach(([key, name, color], k) => {
            c.strokeStyle = c.fillStyle = color;
            this.line(c, key, y, left, top, width, height, strip.bars);
            c.fillText(`${name} ${digits(this.rows[this.at][key])}`, known.length > 1 ? 62 : 0, top + 13 * (known.length > 1 ? k : 1));
        });
        if (known.length) return;
        c.fillText(strip.bars ? "not in the stream: step --with energies" : strip.log ? "nothing within reach of contact" : "not known", left + 4, top + 2);
    }

    line(c, key, y, left, top, width, height, bars) {
        c.beginPath();
        let open = false;
        this.rows.forEach((r, i) => {
            const x = this.x(i, left, width), v = Number.isFinite(r[key]) ? y(r[key]) : NaN;
            if (Number.isNaN(v)) open = false;
            else if (bars) c.fillRect(x - Math.max(0.5, 0.35 * width / this.rows.length), v, Math.max(1, 0.7 * width / this.rows.length), top + height - v);
            else {
                if (open) c.lineTo(x, v);
                else c.moveTo(x, v), c.lineTo(x + 1, v);
                open = true;
            }
        });
        if (!bars) c.stroke();
    }
}

/** The place of the number in an ascending list that is nearest to t. */
function nearest(list, t) {
    let lo = 0, hi = list.length - 1;
    while (hi - lo > 1) {
        const mid = (lo + hi) >> 1;
        if (list[mid] <= t) lo = mid;
        else hi = mid;
    }
    return t - list[lo] <= list[hi] - t ? lo : hi;
}
