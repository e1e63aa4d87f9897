// The scene: a mesh for every part, half-spaces, camera, light.
"use strict";

/** What is drawn of one part. */
class PartView {
    constructor(part) {
        this.part = part;
        this.group = new THREE.Group();
        this.group.name = part.name;
        this.color = part.color;
        const geometry = this.geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * part.skin.length), 3));
        geometry.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(3 * part.skin.length), 3));
        geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * part.skin.length), 3));
        geometry.setIndex(new THREE.BufferAttribute(part.tri, 1));
        this.face = new THREE.Mesh(geometry, new THREE.MeshPhongMaterial({ side: THREE.DoubleSide, shininess: 20, specular: "#222222",
            polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }));
        this.edge = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ wireframe: true, transparent: true, color: "#1c2733" }));
        this.tube = PartView.many(new THREE.CylinderGeometry(1, 1, 1, 8, 1, true), part.seg.length / 2);
        this.ball = PartView.many(new THREE.SphereGeometry(1, 12, 8), part.dot.length);
        for (const o of [this.face, this.edge, this.tube, this.ball]) {
            o.frustumCulled = false;
            this.group.add(o);
        }
    }

    /** n bodies of one shape, each with its place and colour. */
    static many(shape, n) {
        const object = new THREE.InstancedMesh(shape, new THREE.MeshPhongMaterial({ side: THREE.DoubleSide, shininess: 20, specular: "#222222" }), n);
        object.visible = n > 0;
        for (let i = 0; i < n; i++) object.setColorAt(i, PartView.WHITE);
        return object;
    }

    /** x: of all points of the model; usual: radius, m, of rods and dots that have none. */
    move(x, usual) {
        const first = this.part.first, to = this.geometry.attributes.position, skin = this.part.skin;
        for (let i = 0; i < skin.length; i++)
            for (let d = 0; d < 3; d++) to.array[3 * i + d] = x[3 * (first + skin[i]) + d];
        to.needsUpdate = true;
        this.shade();
        this.moveLoose(x, usual);
    }

    /** Tubes along segments, balls at isolated points. */
    moveLoose(x, usual) {
        const { seg, dot, first, radius } = this.part, r = radius > 0 ? Math.max(radius, usual / 3) : usual;
        const a = new THREE.Vector3(), b = new THREE.Vector3(), q = new THREE.Quaternion(), m = new THREE.Matrix4();
        const size = new THREE.Vector3(), along = new THREE.Vector3(0, 1, 0), d = new THREE.Vector3();
        for (let i = 0; i < seg.length; i += 2) {
            a.fromArray(x, 3 * (first + seg[i]));
            b.fromArray(x, 3 * (first + seg[i + 1]));
            const length = d.subVectors(b, a).length();
            q.setFromUnitVectors(along, length > 0 ? d.divideScalar(length) : along);
            this.tube.setMatrixAt(i / 2, m.compose(a.add(b).multiplyScalar(0.5), q, size.set(r, length, r)));
        }
        size.setScalar(radius > 0 ? r : 1.5 * r);
        q.identity();
        for (let i = 0; i < dot.length; i++) this.ball.setMatrixAt(i, m.compose(a.fromArray(x, 3 * (first + dot[i])), q, size));
        this.tube.instanceMatrix.needsUpdate = this.ball.instanceMatrix.needsUpdate = true;
    }

    /** Normals: the mean of the faces around, weighted by area. */
    shade() {
        const x = this.geometry.attributes.position.array, n = this.geometry.attributes.normal.array, tri = this.part.tri;
        n.fill(0);
        for (let t = 0; t < tri.length; t += 3) {
            const a = 3 * tri[t], b = 3 * tri[t + 1], c = 3 * tri[t + 2];
            const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
            const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
            const f = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
            for (const v of [a, b, c]) for (let d = 0; d < 3; d++) n[v + d] += f[d];
        }
        for (let i = 0; i < n.length; i += 3) {
            const len = Math.hypot(n[i], n[i + 1], n[i + 2]) || 1;
            for (let d = 0; d < 3; d++) n[i + d] /= len;
        }
        this.geometry.attributes.normal.needsUpdate = true;
    }

    /** values: of all points of the model, null: the colour of the object. */
    paint(values, low, high, scale) {
        const { first, skin, seg, dot } = this.part, c = this.geometry.attributes.color;
        for (const o of [this.face, this.tube, this.ball]) o.material.color.set(values ? "#ffffff" : this.color);
        if (this.face.material.vertexColors !== !!values) {
            this.face.material.vertexColors = !!values;
            this.face.material.needsUpdate = true;
        }
        if (values) for (let i = 0; i < skin.length; i++) scale.put(values[first + skin[i]], low, high, c.array, 3 * i);
        c.needsUpdate = true;
        const each = (object, value) => {
            if (!object.instanceColor) return;
            for (let i = 0; i < object.count; i++)
                if (values) scale.put(value(i), low, high, object.instanceColor.array, 3 * i);
                else object.instanceColor.array.fill(1, 3 * i, 3 * i + 3);
            object.instanceColor.needsUpdate = true;
        };
        each(this.tube, (i) => (values[first + seg[2 * i]] + values[first + seg[2 * i + 1]]) / 2);
        each(this.ball, (i) => values[first + dot[i]]);
    }

    surface(kind) {
        this.face.visible = this.part.triangles > 0 && kind !== "wire";
        this.edge.visible = this.part.triangles > 0 && kind !== "plain";
        this.edge.material.opacity = kind === "wire" ? 0.9 : 0.35;
    }

    dispose() {
        for (const o of this.group.children) {
            o.geometry.dispose();
            o.material.dispose();
        }
    }
}

PartView.WHITE = new THREE.Color("#ffffff");

/** A square of a half-space, with lines, around the foot of a centre. */
function planeView(plane, center, radius) {
    const group = new THREE.Group(), normal = new THREE.Vector3(...plane.normal), point = new THREE.Vector3(...plane.point);
    const grid = new THREE.GridHelper(2 * radius, 20, "#aab2bb", "#c8ced5");
    const face = new THREE.Mesh(new THREE.PlaneGeometry(2 * radius, 2 * radius),
        new THREE.MeshBasicMaterial({ color: "#dfe2e6", side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 }));
    face.rotation.x = -Math.PI / 2;
    group.add(grid, face);
    group.position.copy(center).addScaledVector(normal, -center.clone().sub(point).dot(normal));
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
    group.name = plane.name;
    return group;
}

class Stage {
    constructor(canvas, up) {
        this.canvas = canvas;
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
        this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
        this.scene = new THREE.Scene();
        this.scene.background = new THREE.Color("#f5f6f8");
        this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
        this.camera.up.set(...up);
        this.controls = new THREE.OrbitControls(this.camera, canvas);
        this.controls.addEventListener("change", () => this.draw());
        const sun = new THREE.DirectionalLight("#ffffff", 2.2);
        sun.position.set(-0.6, 0.8, 1);
        this.camera.add(sun);
        this.scene.add(this.camera, new THREE.HemisphereLight("#ffffff", "#b5b9be", 1.5));
        this.marks = new Marks();
        this.scene.add(this.marks.group);
        this.parts = [];
        this.planes = [];
        this.model = null;
        this.box = new THREE.Box3();
        this.clipping = new THREE.Plane();
    }

    /** Other objects; those that had a name before keep what was chosen for them. */
    setModel(model) {
        for (const p of [...this.parts, ...this.planes]) this.scene.remove(p.group || p);
        for (const p of this.parts) p.dispose();
        this.model = model;
        this.parts = model.parts.map((part) => new PartView(part));
        this.setPlanes();
        for (const p of this.parts) this.scene.add(p.group);
    }

    setPlanes() {
        for (const p of this.planes) this.scene.remove(p);
        const center = this.box.getCenter(new THREE.Vector3());
        this.planes = this.model.planes.map((p) => planeView(p, center, 1.2 * this.radius()));
        for (const p of this.planes) this.scene.add(p);
    }

    radius() { return this.box.getSize(new THREE.Vector3()).length() || 1; }

    /** The box of the bodies over all frames, 6 numbers. */
    setBox(box) {
        this.box.min.fromArray(box, 0);
        this.box.max.fromArray(box, 3);
        if (this.model) this.setPlanes();
    }

    /** yaw around up and pitch above the horizon, degrees; zoom 1: all of the box is seen. */
    look(yaw, pitch, zoom) {
        const up = this.camera.up, side = new THREE.Vector3(), away = new THREE.Vector3();
        const axis = Math.abs(up.y) > 0.5 ? new THREE.Vector3(0, 0, 1) : Math.abs(up.z) > 0.5 ? new THREE.Vector3(0, -1, 0) : new THREE.Vector3(0, 0, 1);
        side.crossVectors(up, axis);
        const y = yaw * Math.PI / 180, p = pitch * Math.PI / 180, r = 0.55 * this.radius() / zoom;
        const aspect = this.camera.aspect || 1, half = Math.tan(this.camera.fov * Math.PI / 360) * Math.min(1, aspect);
        away.copy(axis).multiplyScalar(Math.cos(y) * Math.cos(p)).addScaledVector(side, Math.sin(y) * Math.cos(p)).addScaledVector(up, Math.sin(p));
        const target = this.box.getCenter(new THREE.Vector3()), distance = r / Math.sin(Math.atan(half));
        this.camera.near = distance / 200;
        this.camera.far = distance * 50 + 20 * this.radius();
        this.camera.updateProjectionMatrix();
        this.controls.target.copy(target);
        this.camera.position.copy(target).addScaledVector(away, distance);
        this.controls.update();
    }

    /** axis "x", "y", "z" or "": none; at: 0 to 1 from side to side of the box. */
    clip(axis, at, flip) {
        const d = ["x", "y", "z"].indexOf(axis);
        this.renderer.clippingPlanes = d < 0 ? [] : [this.clipping];
        if (d < 0) return;
        const low = this.box.min.getComponent(d), high = this.box.max.getComponent(d), sign = flip ? -1 : 1;
        this.clipping.normal.set(0, 0, 0).setComponent(d, -sign);
        this.clipping.constant = sign * (low + (high - low) * (1.02 * at - 0.01));
    }

    resize() {
        const w = this.canvas.parentElement.clientWidth, h = this.canvas.parentElement.clientHeight;
        if (!w || !h) return;
        this.renderer.setSize(w, h, false);
        this.camera.aspect = w / h;
        this.camera.updateProjectionMatrix();
    }

    draw() { this.renderer.render(this.scene, this.camera); }
}
