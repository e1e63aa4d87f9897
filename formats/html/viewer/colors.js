// The colour scale, and its bar.
"use strict";

const GREY = new THREE.Color("#999999");

/** Colours from 0 to 1 through the given stations, as linear light for vertices and as CSS for the bar. */
class Scale {
    constructor(stations) {
        this.stations = stations;
        this.table = new Float32Array(3 * 257);
        const hex = stations.map((s) => [1, 3, 5].map((i) => parseInt(s.slice(i, i + 2), 16) / 255));
        const color = new THREE.Color();
        for (let i = 0; i <= 256; i++) {
            const at = i / 256 * (hex.length - 1), k = Math.min(Math.floor(at), hex.length - 2);
            const mix = [0, 1, 2].map((d) => hex[k][d] + (at - k) * (hex[k + 1][d] - hex[k][d]));
            color.setRGB(...mix, THREE.SRGBColorSpace).toArray(this.table, 3 * i);
        }
        GREY.toArray(this.nan = [0, 0, 0]);
    }

    /** Writes the colour of a value to out[at], grey for NaN. */
    put(value, low, high, out, at) {
        if (Number.isNaN(value)) {
            out[at] = this.nan[0], out[at + 1] = this.nan[1], out[at + 2] = this.nan[2];
            return;
        }
        const u = high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0.5, i = 3 * Math.round(256 * u);
        out[at] = this.table[i], out[at + 1] = this.table[i + 1], out[at + 2] = this.table[i + 2];
    }

    draw(context, x, y, w, h) {
        const g = context.createLinearGradient(x, 0, x + w, 0);
        this.stations.forEach((s, i) => g.addColorStop(i / (this.stations.length - 1), s));
        context.fillStyle = g;
        context.fillRect(x, y, w, h);
    }
}

/** A number for people: four digits. */
function digits(v) {
    if (v === null || v === undefined || Number.isNaN(v)) return "\u2013";
    if (Number.isInteger(v) && Math.abs(v) < 1e7) return String(v);
    const a = Math.abs(v);
    return a !== 0 && (a < 1e-3 || a >= 1e5) ? v.toExponential(3) : String(Number(v.toPrecision(4)));
}
