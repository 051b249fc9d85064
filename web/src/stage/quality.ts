// The ladder of quality: pictures become plainer while they come slowly, and full again once the scene rests.
//
// A step down that does not help is taken back: where the picture is not what takes the time, it stays as it is.

const SLOW = 30; // ms between pictures, beyond which a step down is tried
const FAST = 19; // ms, below which a step up is tried
const HELPS = 0.75; // of the time before: more than this, and a step down was no use
const PICTURES = 16; // that are judged together
const TRUST = 20_000; // ms until a step that failed is tried again

export type Level = { pixels: number; shadows: boolean };

/** From the best to the plainest. pixels: across the picture, as a part of those of the screen. */
export const LEVELS: readonly Level[] = [
    { pixels: 1, shadows: true },
    { pixels: 1, shadows: false },
    { pixels: 0.66, shadows: false },
    { pixels: 0.45, shadows: false },
];

export class Quality {
    level: number;
    private last = 0;
    private gaps: number[] = [];
    private before: number | null = null; // ms between pictures before the last step down
    private readonly failed = new Map<number, number>(); // when a step up to a level was too slow
    private readonly useless = new Map<number, number>(); // when a step down to a level did not help

    constructor(software: boolean) {
        this.level = software ? 1 : 0;
    }

    /** Judge a picture that was drawn at a time, ms; whether the level has changed. */
    note(moment: number): boolean {
        const gap = moment - this.last;
        this.last = moment;
        if (gap > 400) {
            this.gaps = [];
            return false;
        }
        this.gaps.push(gap);
        if (this.gaps.length < PICTURES) return false;
        const usual = this.gaps.toSorted((a, b) => a - b)[this.gaps.length >> 1];
        this.gaps = [];
        return this.judge(usual, moment);
    }

    private judge(usual: number, moment: number): boolean {
        const ago = (times: Map<number, number>, level: number) => moment - (times.get(level) ?? -Infinity);
        const { before } = this;
        this.before = null;
        if (before !== null && usual > HELPS * before) {
            this.useless.set(this.level, moment);
            this.level -= 1;
            return true;
        }
        const next = this.level + 1;
        if (usual > SLOW && next < LEVELS.length && ago(this.useless, next) > TRUST) {
            this.failed.set(this.level, moment);
            this.before = usual;
            this.level = next;
            return true;
        }
        if (usual < FAST && this.level > 0 && ago(this.failed, this.level - 1) > TRUST) {
            this.level -= 1;
            return true;
        }
        return false;
    }
}
