// Draws dimensions: a line beside the two points, its ends, and the distance as a label that can be typed over.

import { drawn, typing } from "../dimensions.ts";
import { along, cross, distance, middle, norm, scale, sub, unit } from "../maths.ts";
import type { Vec3 } from "../protocol.ts";
import { live } from "../state.ts";
import { lengthText } from "../words.ts";
import type { Labels } from "./labels.ts";
import { Lines } from "./marks.ts";
import type { Stage } from "./stage.ts";

const ASIDE = 22; // px between the points and the line
const TICK = 5; // px

export class Sizes {
    private readonly lines = new Lines(0x4a5562);

    constructor(
        stage: Stage,
        private readonly labels: Labels,
    ) {
        stage.three.add(this.lines.object);
    }

    draw(stage: Stage): void {
        this.lines.begin();
        const { scene, poses, camera } = stage;
        if (scene && poses.frame) {
            for (const dimension of drawn(scene)) {
                const [a, b] = [dimension.from, dimension.to].map(({ body, point }) =>
                    poses.place(scene.carriers.indexOf(body), point),
                );
                const span = sub(b, a);
                if (norm(span) < 1e-12) continue;
                const px = camera.pixelAt(middle(a, b));
                const aside = this.aside(stage, span);
                const shift = (place: Vec3, pixels: number): Vec3 => along(place, aside, pixels * px);
                const [c, d] = [shift(a, ASIDE), shift(b, ASIDE)];
                this.lines.put(a, shift(a, ASIDE + TICK));
                this.lines.put(b, shift(b, ASIDE + TICK));
                this.lines.put(c, d);
                for (const [end, sign] of [
                    [c, 1],
                    [d, -1],
                ] as const) {
                    const way = scale(unit(span), sign * 9 * px);
                    this.lines.put(end, along([end[0] + way[0], end[1] + way[1], end[2] + way[2]], aside, 3 * px));
                    this.lines.put(end, along([end[0] + way[0], end[1] + way[1], end[2] + way[2]], aside, -3 * px));
                }
                const place = middle(c, d);
                this.labels.put({
                    place,
                    text: lengthText(distance(a, b)),
                    kind: "size",
                    edit: () => {
                        const seen = camera.pixel(place);
                        if (seen && live.peek()) typing.value = { dimension, x: seen[0], y: seen[1] };
                    },
                });
            }
        }
        this.lines.end();
    }

    /** Across the span, in the plane of the picture. */
    private aside({ camera }: Stage, span: Vec3): Vec3 {
        const [right, up, toward] = camera.axes;
        const found = unit(cross(span, toward));
        if (norm(found) === 0) return up;
        const sign =
            found[0] * up[0] + found[1] * up[1] + found[2] * up[2] ||
            found[0] * right[0] + found[1] * right[1] + found[2] * right[2];
        return scale(found, sign < 0 ? 1 : -1);
    }
}
