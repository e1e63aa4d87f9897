// What is at the side and below: every control, and what it changes in the state.
"use strict";

const element = (id) => document.getElementById(id);

const SPEEDS = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100];

/** An option of a list, by text, so that no name is read as markup. */
function option(select, value, text) {
    const o = document.createElement("option");
    o.value = value;
    o.textContent = text;
    select.append(o);
}

class Panel {
    /** player: of main.js. */
    constructor(player) {
        this.player = player;
        const state = player.state;
        const bind = (id, event, take) => element(id).addEventListener(event, (e) => {
            take(e.target);
            player.restyle();
        });
        bind("field", "change", (e) => { state.field = e.value; state.low = state.high = null; });
        bind("low", "change", (e) => { state.low = Panel.number(e.value); });
        bind("high", "change", (e) => { state.high = Panel.number(e.value); });
        bind("contacts", "change", (e) => { state.contacts = e.checked; });
        bind("arrows", "change", (e) => { state.arrows = e.checked; });
        bind("arrow-length", "input", (e) => { state.arrowLength = Number(e.value); });
        bind("surface", "change", (e) => { state.surface = e.value; });
        bind("clip", "change", (e) => { state.clip = e.value; });
        bind("clip-at", "input", (e) => { state.clipAt = Number(e.value); });
        bind("clip-flip", "change", (e) => { state.clipFlip = e.checked; });
        element("all").addEventListener("click", () => this.setAll(true));
        element("none").addEventListener("click", () => this.setAll(false));
        element("home").addEventListener("click", () => player.home());
        element("shot").addEventListener("click", () => player.screenshot());
        element("play").addEventListener("click", () => player.play(!player.playing));
        element("back").addEventListener("click", () => player.go(player.at - 1));
        element("forth").addEventListener("click", () => player.go(player.at + 1));
        element("time").addEventListener("input", (e) => player.go(Number(e.target.value)));
        element("speed").addEventListener("change", (e) => { state.speed = Number(e.target.value); });
        document.addEventListener("keydown", (e) => this.key(e));
        for (const s of SPEEDS) option(element("speed"), s, s === 1 ? "real time" : `${s} \u00d7`);
    }

    static number(text) {
        const v = Number(text);
        return text.trim() === "" || !Number.isFinite(v) ? null : v;
    }

    key(e) {
        if (e.target.matches("input, select, button, summary")) return;
        if (e.key === " ") this.player.play(!this.player.playing);
        else if (e.key === "ArrowLeft") this.player.go(this.player.at - 1);
        else if (e.key === "ArrowRight") this.player.go(this.player.at + 1);
        else if (e.key === "Home") this.player.go(0);
        else if (e.key === "End") this.player.go(Infinity);
        else return;
        e.preventDefault();
    }

    /** The controls as the state has them. */
    show() {
        const s = this.player.state;
        element("field").value = s.field;
        element("low").value = s.low ?? "";
        element("high").value = s.high ?? "";
        element("contacts").checked = s.contacts;
        element("arrows").checked = s.arrows;
        element("arrow-length").value = s.arrowLength;
        element("surface").value = s.surface;
        element("clip").value = s.clip;
        element("clip-at").value = s.clipAt;
        element("clip-flip").checked = s.clipFlip;
        element("speed").value = s.speed;
    }

    setAll(visible) {
        for (const view of this.player.views()) this.player.state.hidden[visible ? "delete" : "add"](view.name);
        this.setModel(this.player.stage.model);
        this.player.restyle();
    }

    /** Objects and fields of a model. */
    setModel(model) {
        const state = this.player.state, list = element("objects");
        list.replaceChildren(...[...model.parts, ...model.planes].map((p) => this.objectRow(p)));
        const select = element("field");
        select.replaceChildren();
        option(select, "", "by object");
        for (const f of model.fields) option(select, f.name, f.label);
        if (!model.fields.some((f) => f.name === state.field)) state.field = "";
        this.show();
    }

    objectRow(p) {
        const state = this.player.state, row = document.createElement("li"), label = document.createElement("label");
        const seen = document.createElement("input");
        seen.type = "checkbox";
        seen.checked = !state.hidden.has(p.name);
        seen.addEventListener("change", () => {
            state.hidden[seen.checked ? "delete" : "add"](p.name);
            this.player.restyle();
        });
        label.append(seen, ` ${p.name}`);
        label.title = p.points === undefined ? "half-space" : `${p.points} points, ${p.triangles} triangles`;
        row.append(label);
        if (!p.color) return row;
        const color = document.createElement("input");
        color.type = "color";
        color.value = state.colors.get(p.name) ?? p.color;
        color.setAttribute("aria-label", `colour of ${p.name}`);
        color.addEventListener("input", () => {
            state.colors.set(p.name, color.value);
            this.player.restyle();
        });
        row.append(color);
        return row;
    }

    /** Time, numbers and counts of the frame that is shown. */
    setFrame(frame, numbers, i, count) {
        element("time").max = count - 1;
        element("time").value = i;
        const pending = frame.meta.numbers.pending ? ", pending" : "";
        element("label").textContent = `frame ${frame.meta.index}, ${digits(frame.meta.time)} s${pending}`;
        element("contact-count").textContent = digits(frame.contacts.n);
        element("force-most").textContent = frame.meta.force === null ? "" : `up to ${digits(frame.meta.force)} N`;
        const rows = Object.entries(numbers).map(([name, v]) => {
            const row = document.createElement("tr");
            for (const text of [name, digits(v)]) row.append(Object.assign(document.createElement("td"), { textContent: text }));
            return row;
        });
        element("numbers").replaceChildren(...rows);
        const lost = `${frame.meta.lost} points of this frame are too far away for a browser; they are in the middle of their object.`;
        this.notice(frame.meta.lost ? lost : "");
    }

    notice(text) {
        element("notice").textContent = text;
        element("notice").hidden = !text;
    }

    setHistory(head) {
        element("history").textContent = head.history.map((h) => `${h.tool} ${h.version} ${h.options}`).join("\n\n");
    }

    /** Name, ends and unit of the scale; field null: none. */
    setLegend(field, low, high, scale) {
        element("legend").hidden = !field;
        if (!field) return;
        element("legend-name").textContent = field.unit ? `${field.label}, ${field.unit}` : field.label;
        element("legend-low").textContent = digits(low);
        element("legend-high").textContent = digits(high);
        element("low").placeholder = digits(low);
        element("high").placeholder = digits(high);
        scale.draw(element("legend-bar").getContext("2d"), 0, 0, 220, 12);
    }
}
