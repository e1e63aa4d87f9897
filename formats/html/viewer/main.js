// The player: which frame is shown, and how.
"use strict";

/** What of the state an address may say: run.html#frame=10&field=stress&view=30,18,1&surface=edges&clip=x,0.5&hide=floor&contacts=1&arrows=1 */
function stateOf(hash) {
    const q = new URLSearchParams(hash.replace(/^#/, ""));
    const [clip, clipAt] = (q.get("clip") ?? "").split(",");
    return {
        frame: Number(q.get("frame")) || 0, field: q.get("field") ?? "", low: Panel.number(q.get("low") ?? ""), high: Panel.number(q.get("high") ?? ""),
        view: (q.get("view") ?? "30,18,1").split(",").map(Number), surface: q.get("surface") ?? "plain",
        clip: ["x", "y", "z"].includes(clip) ? clip : "", clipAt: Number(clipAt ?? 0.5), clipFlip: q.get("flip") === "1",
        hidden: new Set(q.getAll("hide")), colors: new Map(), contacts: q.get("contacts") === "1", arrows: q.get("arrows") === "1",
        arrowLength: 0, speed: Number(q.get("speed")) || 0,
    };
}

class Player {
    constructor(head) {
        this.scale = new Scale(head.scale);
        this.state = stateOf(location.hash);
        this.at = this.wanted = -1;
        this.known = 0;
        this.playing = false;
        this.asked = 0;
        this.source = head.live ? new LiveSource(head, () => this.grown()) : new EmbeddedSource(head);
        this.panel = new Panel(this);
        this.panel.setHistory(head);
        this.graph = new Graph(element("graph"), (i) => this.go(i));
        this.stage = null;
        new ResizeObserver(() => this.resize()).observe(element("stage"));
        this.live(head.live);
    }

    live(on) {
        element("live").hidden = !on;
        if (on) element("live").textContent = this.source.state;
    }

    /** Times that never fall, s: a frame at the time of the one before comes 1/25 s later. */
    measure() {
        const frames = this.source.frames, clock = [];
        for (const [i, f] of frames.entries())
            clock.push(i === 0 ? f.time : f.time > frames[i - 1].time ? clock[i - 1] + f.time - frames[i - 1].time : clock[i - 1] + 0.04);
        this.clock = clock;
        this.box = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
        this.force = 0;
        for (const f of frames) {
            for (let d = 0; d < 6; d++) this.box[d] = Math[d < 3 ? "min" : "max"](this.box[d], f.box[d]);
            this.force = Math.max(this.force, f.force ?? 0);
        }
        const span = clock.at(-1) - clock[0];
        if (!this.state.speed) this.state.speed = SPEEDS.findLast((s) => s <= 1 && span / s >= 3) ?? SPEEDS[0];
    }

    /** All frames are there, or more than before. */
    async grown() {
        this.live(this.source.head.live);
        this.panel.setHistory(this.source.head);
        if (!this.source.frames.length) return;
        const following = this.wanted >= this.known - 1;
        this.known = this.source.frames.length;
        this.measure();
        this.graph.set(this.source.frames.map((_, i) => this.source.numbers(i)), this.clock);
        if (this.at >= 0) {
            if (following && !this.playing) await this.go(this.known - 1);
            else this.panel.setFrame(this.frame, this.source.numbers(this.at), this.at, this.known);
            return;
        }
        if (this.stage) return;     // on its way
        const first = this.source.head.live ? this.known - 1 : Math.min(this.state.frame, this.known - 1);
        const model = await this.source.model(this.source.frames[first].model);
        if (this.stage) return;
        this.stage = new Stage(element("view"), model.up);
        this.stage.setBox(this.box);
        this.stage.resize();
        this.home();
        await this.go(first);
    }

    home() {
        if (!this.stage) return;
        this.stage.setBox(this.box);
        this.stage.look(...this.state.view);
        this.restyle();
    }

    /** Shows frame i, or the nearest there is; of several calls the last counts. */
    async go(i) {
        i = Math.max(0, Math.min(i, this.source.frames.length - 1));
        this.wanted = i;
        const asked = ++this.asked, frame = await this.source.frame(i);
        if (asked !== this.asked) return;
        this.at = i;
        this.frame = frame;
        if (this.stage.model !== frame.model) {
            this.stage.setModel(frame.model);
            this.panel.setModel(frame.model);
        }
        for (const p of this.stage.parts) p.move(frame.x, 0.0025 * this.stage.radius());
        this.panel.setFrame(frame, this.source.numbers(i), i, this.source.frames.length);
        this.graph.show(i);
        this.restyle();
    }

    /** Parts and half-spaces, by name. */
    views() { return [...this.stage.parts.map((p) => p.group), ...this.stage.planes]; }

    /** Low and high end of the scale of field k: as chosen, or over all frames of the model. */
    range(k) {
        const ranges = this.source.frames.filter((f) => f.model === this.frame.meta.model).map((f) => f.ranges[k]).filter((r) => r);
        const low = ranges.reduce((m, r) => Math.min(m, r[0]), Infinity), high = ranges.reduce((m, r) => Math.max(m, r[2]), -Infinity);
        return [this.state.low ?? (ranges.length ? low : 0), this.state.high ?? (ranges.length ? high : 1)];
    }

    /** Everything but the positions, and draws. */
    restyle() {
        if (!this.frame) return;
        const { state, stage, frame } = this, k = frame.model.fields.findIndex((f) => f.name === state.field);
        const [low, high] = k < 0 ? [0, 1] : this.range(k);
        for (const p of stage.parts) {
            p.color = state.colors.get(p.part.name) ?? p.part.color;
            p.paint(k < 0 ? null : frame.fields[k], low, high, this.scale);
            p.surface(state.surface);
        }
        for (const v of this.views()) v.visible = !state.hidden.has(v.name);
        stage.clip(state.clip, state.clipAt, state.clipFlip);
        const length = this.force > 0 ? 0.15 * stage.radius() * 10 ** state.arrowLength / this.force : 0;
        stage.marks.show(frame.contacts, state.contacts, state.arrows, length, stage.camera.position);
        this.panel.setLegend(k < 0 ? null : frame.model.fields[k], low, high, this.scale);
        this.panel.show();
        stage.draw();
    }

    resize() {
        if (!this.stage) return;
        this.stage.resize();
        this.stage.draw();
        this.graph.draw();
    }

    play(on) {
        if (on === this.playing) return;
        this.playing = on;
        element("play").textContent = on ? "\u275a\u275a" : "\u25b6";
        if (on) this.run();
    }

    async run() {
        if (this.at === this.clock.length - 1) await this.go(0);
        let before = performance.now(), time = this.clock[this.at];
        while (this.playing) {
            await new Promise((wake) => requestAnimationFrame(wake));
            const now = performance.now();
            time += (now - before) / 1000 * this.state.speed;
            before = now;
            let i = this.at;
            while (i + 1 < this.clock.length && this.clock[i + 1] <= time) i++;
            if (i !== this.at) await this.go(i);
            if (i === this.clock.length - 1 && !(this.source.head.live && !this.source.ended)) this.play(false);
        }
    }

    /** The scene as it is seen, with time and scale, as a canvas. */
    picture() {
        const from = element("view"), to = document.createElement("canvas"), c = to.getContext("2d"), unit = from.width / from.clientWidth;
        to.width = from.width;
        to.height = from.height;
        this.stage.draw();
        c.drawImage(from, 0, 0);
        c.scale(unit, unit);
        c.font = "13px system-ui, sans-serif";
        c.fillStyle = "#23303d";
        c.fillText(`${digits(this.frame.meta.time)} s`, 12, from.clientHeight - 12);
        if (element("legend").hidden) return to;
        this.scale.draw(c, 12, 28, 220, 12);
        c.fillStyle = "#23303d";
        c.fillText(element("legend-name").textContent, 12, 22);
        c.fillText(element("legend-low").textContent, 12, 54);
        c.textAlign = "right";
        c.fillText(element("legend-high").textContent, 232, 54);
        return to;
    }

    screenshot() {
        if (!this.stage) return;
        this.picture().toBlob((blob) => {
            const a = document.createElement("a");
            a.href = URL.createObjectURL(blob);
            a.download = `frame_${String(this.frame.meta.index).padStart(4, "0")}.png`;
            a.click();
            setTimeout(() => URL.revokeObjectURL(a.href), 10000);
        });
    }
}

/** The player of this page: window.abut, once it is there. */
(async () => {
    const trouble = (e) => {
        element("notice").textContent = `This page cannot be shown: ${e.message ?? e}`;
        element("notice").hidden = false;
    };
    window.addEventListener("unhandledrejection", (e) => trouble(e.reason));
    try {
        const player = window.abut = new Player(JSON.parse(element("head").textContent));
        await player.grown();
    } catch (e) {
        console.error(e);
        trouble(e);
    }
})();
