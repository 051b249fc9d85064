// Numbers and names as people read them.

/** A number with four digits. Noise below 1e-12 reads as 0. */
export function short(value: number): string {
    if (!Number.isFinite(value)) return "–";
    if (Math.abs(value) < 1e-12) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3)
        return value
            .toExponential(3)
            .replace(/\.?0+e/, "e")
            .replace("e+", "e");
    return Number(value.toPrecision(4)).toString();
}

/** A value of a description, with six digits. */
export function exact(value: number): string {
    return Number(value.toPrecision(6)).toString();
}

const PREFIXES: [number, string][] = [
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
    [1e-3, "m"],
    [1e-6, "µ"],
];

/** A force or moment with three digits and a prefix: 1.25 kN. */
export function withPrefix(value: number, unit: string): string {
    const size = Math.abs(value);
    if (size < 1e-9) return `0 ${unit}`;
    const [factor, prefix] = PREFIXES.find(([least]) => size >= least * 0.9995) ?? PREFIXES[PREFIXES.length - 1];
    return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
}

/** A length in mm up to 10 m, as drawings give it. */
export function lengthText(value: number): string {
    if (value < 10) return `${Number((1000 * value).toFixed(value < 0.01 ? 3 : 1))} mm`;
    return `${Number(value.toPrecision(5))} m`;
}

/** A length as typed: mm without a unit as on the label, or with m, cm, mm, in. m; null for what is none. */
export function typedLength(text: string, usual = "mm"): number | null {
    const found = /^\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(mm|cm|m|in)?\s*$/i.exec(text.replace(",", "."));
    if (!found) return null;
    const unit = (found[2] ?? usual).toLowerCase();
    const factor = { mm: 1e-3, cm: 1e-2, m: 1, in: 0.0254 }[unit] ?? 1;
    return Number(found[1]) * factor;
}

const TABLES: Record<string, string> = {
    bodies: "body",
    beams: "beam",
    joints: "joint",
    constraints: "constraint",
    forces: "force",
    drives: "drive",
    sensors: "sensor",
    changes: "change",
    markers: "marker",
    parameters: "parameter",
    inputs: "input",
};

/** "body" for "bodies". */
export const nounOf = (table: string): string => TABLES[table] ?? table;

/** A name of the language of files as words: rest_length becomes "rest length". */
export const spoken = (name: string): string => name.replaceAll("_", " ");

/** The name of a kind as words: SpringDamper becomes "spring damper". */
export const kindText = (kind: string): string => kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
