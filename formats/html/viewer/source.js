// Where models and frames come from: this page, or the program that serves it.
"use strict";

const FRAMES_KEPT = 48;     // frames that stay expanded

/** Models and frames by number.  frames[i] is what the text says of frame i. */
class Source {
    constructor(head) {
        this.head = head;
        this.models = [];       // of texts
        this.frames = [];
        this.ready = new Map(); // frames, by number, the one asked for last at the end
        this.made = [];         // models
        this.reports = new Map();   // numbers of reports, by step
    }

    model(i) {
        if (!this.made[i]) this.made[i] = this.modelBlock(i).then(inflate).then((b) => readModel(this.models[i], b));
        return this.made[i];
    }

    /** A line of `step --report`: its numbers become those of the frame that the step made. */
    reported(line) {
        let report;
        try {
            report = JSON.parse(line);
        } catch {
            return;     // not whole, or no report
        }
        const numbers = Object.entries(report).filter(([, v]) => typeof v === "number");
        this.reports.set(report.step, Object.fromEntries(numbers.map(([k, v]) => [`report: ${k}`, v])));
    }

    /** The numbers of frame i, those of the report of its step with them. */
    numbers(i) {
        const own = this.frames[i].numbers, report = this.reports.get(this.frames[i].step);
        if (!report) return own;
        return { ...own, iterations: own.iterations ?? report["report: newton_iterations"], gap_m: own.gap_m ?? report["report: min_gap"], ...report };
    }

    /** {meta, model, x, fields, contacts} of frame i. */
    frame(i) {
        let frame = this.ready.get(i);
        this.ready.delete(i);
        if (!frame) frame = this.load(i);
        this.ready.set(i, frame);
        for (const old of this.ready.keys()) {
            if (this.ready.size <= FRAMES_KEPT) break;
            this.ready.delete(old);
        }
        return frame;
    }

    async load(i) {
        const meta = this.frames[i], model = await this.model(meta.model);
        return { meta, model, ...readFrame(meta, model, await inflate(await this.frameBlock(i))) };
    }
}

/** Of a page that holds them all. */
class EmbeddedSource extends Source {
    constructor(head) {
        super(head);
        const texts = (name) => Array.from(document.getElementsByClassName(name), (e) => JSON.parse(e.textContent));
        this.models = texts("model");
        this.frames = texts("frame");
        const blocks = (name) => document.getElementsByClassName(`${name}-block`);
        this.blocks = { model: blocks("model"), frame: blocks("frame") };
    }

    async modelBlock(i) { return bytesOfBase64(this.blocks.model[i].textContent); }
    async frameBlock(i) { return bytesOfBase64(this.blocks.frame[i].textContent); }
}

/** Of a run that goes on: asks for what is new, and takes every block at once, since whoever serves them ends with the run. */
class LiveSource extends Source {
    constructor(head, changed) {
        super(head);
        this.changed = changed;
        this.blocks = { model: [], frame: [] };
        this.state = "waiting for the first frame";
        this.failed = 0;
        this.ended = false;
        this.lines = 0;
        this.follow();
    }

    modelBlock(i) { return this.blocks.model[i]; }
    frameBlock(i) { return this.blocks.frame[i]; }

    async follow() {
        while (!this.ended && this.failed < 3) {
            try {
                await this.ask();
                this.failed = 0;
            } catch {
                this.failed++;
            }
            await new Promise((wake) => setTimeout(wake, 300));
        }
        if (!this.ended) this.state = "the program that served this page has ended";
        this.changed();
    }

    async ask() {
        const query = `models=${this.models.length}&frames=${this.frames.length}&reports=${this.lines}`;
        const answer = await (await fetch(`status?${query}`)).json();
        const block = async (kind, i) => {
            const reply = await fetch(`${kind}/${i}`);
            if (!reply.ok) throw new Error(`${kind} ${i}: ${reply.status}`);
            return new Uint8Array(await reply.arrayBuffer());
        };
        if (answer.heads.length) this.head = answer.heads[0];
        for (const m of answer.models) {
            this.blocks.model.push(Promise.resolve(await block("model", this.models.length)));
            this.models.push(m);
        }
        for (const f of answer.frames) {
            this.blocks.frame.push(Promise.resolve(await block("frame", this.frames.length)));
            this.frames.push(f);
        }
        for (const line of answer.reports) this.reported(line);
        this.lines += answer.reports.length;
        this.ended = answer.ended && this.frames.length === answer.total && this.lines === answer.lines;
        this.state = this.ended ? answer.message : "running";
        this.changed();
    }
}
