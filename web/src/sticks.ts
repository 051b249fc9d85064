// What the sticks and buttons of a controller ask for.

const DEAD = 0.12; // of the way of a stick, within which it is at rest

/** How far an axis is from rest, with finer steps near rest, -1 to 1. */
export function pushed(value: number | undefined): number {
    const size = Math.abs(value ?? 0);
    if (!(size > DEAD)) return 0;
    return Math.sign(value!) * Math.min(1, (size - DEAD) / (1 - DEAD)) ** 2;
}

export type Ways = { right: number; ahead: number; up: number; turn: number; tilt: number; plays: boolean };

/** What a controller asks for. Those of no standard layout with six axes are space mice. */
export function waysOf(pad: Pick<Gamepad, "axes" | "buttons" | "mapping">): Ways {
    const { axes, buttons } = pad;
    const plays = buttons[0]?.pressed ?? false;
    if (pad.mapping !== "standard" && axes.length >= 6) {
        const [x, y, z, tilt, , turn] = axes.map(pushed);
        return { right: x, ahead: -y, up: -z, turn, tilt, plays };
    }
    const by = (button: number) => buttons[button]?.value ?? 0;
    return {
        right: pushed(axes[0]),
        ahead: -pushed(axes[1]),
        up: pushed(by(7) - by(6)) || by(12) - by(13),
        turn: pushed(axes[2]),
        tilt: pushed(axes[3]),
        plays,
    };
}
