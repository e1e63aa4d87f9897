// Contact points and force arrows.
"use strict";

/** Points where bodies touch, and an arrow for the force on the first of both. */
class Marks {
    constructor() {
        const through = { depthTest: false, transparent: true };
        this.points = new THREE.Points(new THREE.BufferGeometry(),
            new THREE.PointsMaterial({ color: "#c2185b", size: 5, sizeAttenuation: false, ...through }));
        this.arrows = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: "#7b1fa2", ...through }));
        this.group = new THREE.Group();
        this.group.add(this.points, this.arrows);
        for (const o of this.group.children) {
            o.frustumCulled = false;
            o.renderOrder = 2;
        }
    }

    /** perNewton: m of arrow for a newton.  eye: where it is seen from, for the heads. */
    show(contacts, showPoints, showArrows, perNewton, eye) {
        this.points.visible = showPoints;
        this.arrows.visible = showArrows && contacts.force !== null;
        if (showPoints) Marks.set(this.points, contacts.at);
        if (this.arrows.visible) Marks.set(this.arrows, Marks.lines(contacts, perNewton, eye));
    }

    static set(object, numbers) {
        object.geometry.dispose();
        object.geometry = new THREE.BufferGeometry();
        object.geometry.setAttribute("position", new THREE.BufferAttribute(numbers, 3));
    }

    /** A shaft and two strokes of the head for each. */
    static lines(contacts, perNewton, eye) {
        const out = new Float32Array(18 * contacts.n);
        const a = new THREE.Vector3(), d = new THREE.Vector3(), tip = new THREE.Vector3(), side = new THREE.Vector3(), p = new THREE.Vector3();
        for (let i = 0; i < contacts.n; i++) {
            a.fromArray(contacts.at, 3 * i);
            d.fromArray(contacts.force, 3 * i).multiplyScalar(perNewton);
            tip.copy(a).add(d);
            side.copy(eye).sub(a).cross(d);
            if (side.lengthSq() > 0) side.setLength(0.12 * d.length());
            a.toArray(out, 18 * i);
            tip.toArray(out, 18 * i + 3);
            for (let k = 0; k < 2; k++) {
                tip.toArray(out, 18 * i + 6 + 6 * k);
                p.copy(tip).addScaledVector(d, -0.25).addScaledVector(side, k ? -1 : 1).toArray(out, 18 * i + 9 + 6 * k);
            }
        }
        return out;
    }
}
