// Blocks of a page as numbers: formats/html/page_data.h says what is where.
"use strict";

/** Bytes of base64 text. */
function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text), bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

/** What a zlib stream expands to. */
async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers whose bytes are grouped by significance, each list as differences. */
class Grouped {
    constructor(bytes, size) {
        this.bytes = bytes;
        this.size = size;
        this.n = bytes.length / size;
        this.at = 0;
    }

    /** The next list of n numbers. */
    list(n) {
        const out = this.size === 2 ? new Uint16Array(n) : new Uint32Array(n);
        if (this.at + n > this.n) throw new Error("a block ends early");
        let sum = 0;
        for (let i = 0; i < n; i++, this.at++) {
            let d = 0;
            for (let k = this.size - 1; k >= 0; k--) d = (d * 256) + this.bytes[k * this.n + this.at];
            sum += d;
            out[i] = sum;       // modulo 2^16 or 2^32
            sum = out[i];
        }
        return out;
    }
}

const PLACE_MOST = 65534, FIELD_MOST = 4095, CODE_NONE = 65535;

/** The lists of every part, beside what the text says of it; `first`: number of its first point among those of all parts. */
function readModel(meta, bytes) {
    const numbers = new Grouped(bytes, 4);
    let first = 0;
    const parts = meta.parts.map((p) => {
        const part = { ...p, first, skin: numbers.list(p.vertices), tri: numbers.list(3 * p.triangles),
                       seg: numbers.list(2 * p.segments), dot: numbers.list(p.dots) };
        first += p.points;
        return part;
    });
    return { ...meta, parts, points: first };
}

/** Positions and fields of all points, NaN where unknown, and contacts. */
function readFrame(meta, model, bytes) {
    const boxes = new DataView(bytes.buffer, bytes.byteOffset, 24 * model.parts.length);
    const numbers = new Grouped(bytes.subarray(24 * model.parts.length), 2);
    const x = new Float32Array(3 * model.points);
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    model.parts.forEach((part, k) => {
        for (let a = 0; a < 3; a++) {
            const lo = boxes.getFloat32(24 * k + 4 * a, true), size = boxes.getFloat32(24 * k + 12 + 4 * a, true);
            const code = numbers.list(part.points);
            if (part.points) {
                low[a] = Math.min(low[a], lo);
                high[a] = Math.max(high[a], lo + size);
            }
            for (let i = 0; i < part.points; i++)       // a point that is nowhere is shown in the middle
                x[3 * (part.first + i) + a] = lo + size * (code[i] === CODE_NONE ? 0.5 : code[i] / PLACE_MOST);
        }
    });
    const fields = model.fields.map((_, k) => readField(numbers.list(model.points), meta.ranges[k]));
    return { x, fields, contacts: readContacts(numbers, meta, low, high) };
}

function readField(code, range) {
    const value = new Float32Array(code.length);
    for (let i = 0; i < code.length; i++)
        value[i] = !range || code[i] === CODE_NONE ? NaN : range[0] + (range[1] - range[0]) * code[i] / FIELD_MOST;
    return value;
}

/** Places in m, forces in N (null: nobody knows), three numbers each. */
function readContacts(numbers, meta, low, high) {
    const n = meta.contacts, at = new Float32Array(3 * n), force = meta.force === null ? null : new Float32Array(3 * n);
    for (let a = 0; a < 6; a++) {
        const code = numbers.list(n), c = a % 3;
        for (let i = 0; i < n; i++)
            if (a < 3) at[3 * i + c] = low[c] + (high[c] - low[c]) * code[i] / PLACE_MOST;
            else if (force) force[3 * i + c] = meta.force * (code[i] - 32767) / 32767;
    }
    return { n, at, force };
}
