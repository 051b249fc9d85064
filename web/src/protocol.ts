// What a page and a session say to each other over the WebSocket /ws, and how a recorded page is laid out.
//
// Text messages are objects of JSON, one each. Binary messages, little-endian, are told apart by their first byte.
// Lengths are in m, times in s, everything else in SI; axes are those of the world unless a body's frame is named;
// quaternions are (w, x, y, z). The other side of this file is src/bellcrank/viewer/page/.

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number];
export type Color = [number, number, number, number]; // red, green, blue, opacity, 0 to 1

// ---------------------------------------------------------------------------------------------------------------
// From the page
// ---------------------------------------------------------------------------------------------------------------

// A command. With an id it is answered by an Answer of the same id; without one, by nothing (moves of the mouse).
// seq: of a "move", counts them; frames say which was done last (Frame.moved).
export type Request = { do: CommandName; id?: number; seq?: number } & Record<string, unknown>;
// The words that may complete the last word of a command line: Answer.result = { words: string[] }.
export type Completion = { complete: string; id: number };
// What this page wants to be sent; each message replaces the one before. Left out is off.
export type Watch = {
    watch: {
        signals?: string[]; // names, see SignalGroup
        seconds?: number; // of the past that signals cover; left out or null: everything that was recorded
        reactions?: boolean; // arrows of joints: forces and moments
        forces?: boolean; // arrows of springs, cylinders, motors: what they exert
        contacts?: boolean; // points of contact, and arrows of their forces
        twists?: boolean; // velocities of bodies in frames
        accelerations?: boolean;
        beams?: string; // the quantity of scene.quantities by which beams are coloured
        inspect?: string; // an element, whose Inspected follows whenever its numbers have changed
        loads?: string; // a body, whose section loads follow likewise (Loads)
    };
};

// Names of commands with what they take besides do and id. "?" marks what may be left out.
export type Commands = {
    // -- time; also of recorded runs
    play: object;
    pause: object;
    step: { count?: number };
    reset: object;
    rewind: { time: number };
    speed: { value: number };
    // What was recorded of a point of a body: Answer.result = Traced.
    trace: { body: string; point?: Vec3; seconds?: number; frames?: number };
    // -- method and values
    switch: { formulation?: string; method?: string; step?: number };
    set_input: { name: string; value: number };
    set_parameter: { name: string; value: number };
    // -- adaptive dynamics: what may be left out; "none": as many joints, as much loss as it takes
    limit: {
        max_error?: number;
        max_joints?: number | "none";
        max_loss?: number | "none"; // W
        measure?: string;
    };
    // -- by hand. point: in the frame of the body
    grab: { body: string; point: Vec3; target: Vec3 };
    move: { body: string; target: Vec3 };
    release: { body?: string };
    pin: { body: string };
    unpin: { body: string };
    jog: { marker?: string; velocity?: Vec3; duration?: number };
    // -- building. Every one of these stands in the log as lines that could have been typed, and is one undo step
    execute: { line: string }; // a line of the command language; Answer.text is its reply
    add_body: {
        kind: string;
        name?: string;
        size?: number[];
        mass?: number;
        position?: Vec3;
        rotation?: Quat;
        file?: string;
    };
    // A rod between two points of the world: Answer.result = { result: name }.
    // hinges: which of its ends (0, 1) is hinged to what, about which axis of the world; all of it is one undo step.
    rod: {
        start: Vec3;
        end: Vec3;
        width?: number;
        mass?: number;
        name?: string;
        hinges?: [0 | 1, End, Vec3][];
    };
    join: {
        kind: string; // of scene.joint_kinds or scene.force_kinds
        first: End;
        second: End;
        name?: string;
        axis?: Vec3; // world
        snap?: boolean; // bring the bodies together at once
        reach?: number; // within which a point snaps to a marker of its body
        [number: string]: unknown; // numbers of a force, such as stiffness
    };
    // Any other element, in the words of mechanism files; ends are names of joints, bodies, markers, or End.
    // noun: "joint", "constraint", "force", "drive", "sensor", "change", "marker", "parameter".
    // Answer.result = { result: name }. Gears, belts, contacts and sensors are added by this.
    add: { noun: string; kind?: string; name?: string; ends?: (string | End)[]; fields?: Record<string, unknown> };
    nail: { body: string };
    free: { body: string };
    motor: { joint: string; velocity: number };
    remove: { name: string };
    gravity: { value: Vec3 | boolean };
    undo: object;
    redo: object;
    assemble: { method?: "constraint_forces" | "root_finding" };
    // A value of scene.document at a path, such as ["bodies", "crank", "mass"] or ["bodies", "rod1", "shapes", 0, "radius"];
    // null goes back to the usual value. Time and state are kept where the change allows it.
    // A text may be a number with a unit ("30 mm") or an expression of parameters.
    edit: { path: (string | number)[]; value: unknown };
    rename: { table: string; name: string; to: string };
    // Two points of a body, in its frame, get another distance: all of the body is stretched along their line, first stays.
    length: { body: string; first: Vec3; second: Vec3; value: number };
    // A point of a body moves to another place of its frame, with all markers and ends of joints that are there, and with
    // the rod that ends there; then the mechanism is assembled. part: whether it goes on, so that undo takes all of it back.
    reshape: { body: string; point: Vec3; to: Vec3; part?: boolean };
    // Bodies with everything between them and what holds them to the ground. Answer.result = { names: string[] }
    copy: { names: string[]; offset?: Vec3 };
    mirror: { names: string[]; normal: Vec3; point?: Vec3 };
    array: { names: string[]; count: number; offset?: Vec3; angle?: number; axis?: Vec3; point?: Vec3 };
    // -- files of the working folder, by plain names
    files: object; // Answer.result = { mechanisms: string[], meshes: string[] }
    keep: { file: string; over?: boolean };
    open_file: { file: string };
    open_text: { text: string }; // a document, as JSON
    save_run: { file: string }; // HDF5
    record: { file: string }; // a page that plays without a server
};
export type CommandName = keyof Commands;

// A point that a command takes hold of.
export type End = { body: string; point: Vec3 } | { marker: string };

// ---------------------------------------------------------------------------------------------------------------
// To the page: text
// ---------------------------------------------------------------------------------------------------------------

export type Fault = { element: string; rule: string; value: unknown; advice: string };
// text: for people, may be empty. words: of a refusal, in the words of the page where it has a button for what to do.
export type Answer = {
    id: number;
    ok: boolean;
    text: string;
    result?: Record<string, unknown>;
    error?: { type: string; message: string; faults?: Fault[] };
};

// What changes seldom; sent at the beginning, and when any of it has changed, at most ten times a second.
export type State = {
    event: "state";
    name: string; // of the mechanism
    live: boolean; // otherwise a recorded run is played
    status: "playing" | "paused" | "open" | "failed";
    message: string; // why it is open or has failed, or a remark; ""
    formulation: string; // at work
    settings: { formulation: string; method: string; step: number };
    formulations: string[]; // that may be chosen
    methods: string[];
    fixed: string[]; // methods of fixed steps
    inputs: Record<string, Slider>;
    parameters: Record<string, Slider>;
    pins: string[];
    preparing: string; // what is being prepared, ""
    late: boolean; // slower than asked
    active: string[] | null; // joints that moved in the last step of a quasi-static run
    markers: string[]; // that can be jogged
    jogged: boolean; // whether joints are driven by a jog
    misfits: string[]; // joints that cannot all fit, shown where they come closest
    limits: string[]; // the joints at whose limits it cannot go on
    adaptive: { methods: string[]; measures: string[] } | null; // of a session with adaptive dynamics
    undo: boolean; // whether there is something to undo
    redo: boolean;
};
export type Slider = { value: number; low: number; high: number; unit: string };
// Lines that were done or refused, by whom; new ones only. own: this page did it. time: that was shown then, s;
// moment: on the wall, s since 1970.
export type Log = {
    event: "log";
    entries: {
        number: number;
        by: string;
        own: boolean;
        line: string;
        text: string;
        ok: boolean;
        time: number;
        moment: number;
    }[];
};
// rows: label, value or values, unit.
export type Inspected = {
    event: "inspected";
    name: string;
    kind: string;
    rows: [string, number | number[] | string, string][];
};
// Section loads of a body along its length: places (n), m, from its first end; normal force, shear and moments there.
export type Loads = {
    event: "loads";
    body: string;
    start: Vec3;
    end: Vec3;
    place: number[];
    force: Vec3[];
    moment: Vec3[];
    remark: string;
};
// The connection ends.
export type Closed = { event: "closed"; text: string };
export type Event = State | Log | Inspected | Loads | Closed;

export type Traced = { time: number[]; points: Vec3[]; rotations: Quat[] };

// kinds.json: fields of what files can contain, for the panel of fields; by noun, then by kind ("" where there are none).
export type Kinds = Record<string, Record<string, Field[]>>;
export type Field = {
    name: string;
    type: "number" | "vector" | "numbers" | "text" | "flag" | "choice" | "function" | "other"; // of what it usually is
    units: string[];
    required: boolean;
    usual: unknown; // value where it is left out; null: it follows from others
    choices?: string[];
};

// ---------------------------------------------------------------------------------------------------------------
// To the page: binary
// ---------------------------------------------------------------------------------------------------------------

// 1: the scene of a mechanism, once for each edition.
//   u8 1, u8 0, u16 edition, u32 bytes of JSON (padded with blanks to a multiple of 8), the JSON; then arrays, f32 and u32.
export type SceneHead = {
    name: string;
    live: boolean;
    size: number; // how large the mechanism is, m
    up: Vec3; // unit
    views: Record<string, View>; // "start", the usual one, and "front", "right", "top", ...
    plane: boolean; // whether "start" looks along the normal of a plane mechanism
    carriers: string[]; // bodies in the order of frames, then "ground"
    // [offset in numbers of 4 bytes, count of numbers]; normals: of meshes of sweeps.
    meshes: { vertices: [number, number]; triangles: [number, number]; normals?: [number, number] }[];
    pieces: Piece[];
    joints: Joint[];
    links: Link[];
    sweeps: Sweep[];
    scale: Vec3[]; // colours from the least to the largest value, in equal steps
    quantities: [name: string, label: string, unit: string][]; // by which beams can be coloured
    points: Point[]; // to which clicks snap
    gaps: [number, number][]; // pairs of points, by index in ends, that a joint wants to coincide
    ends: { body: number; position: Vec3; joint: string }[];
    contacts: string[]; // names, for the points of frames
    forces: string[]; // names, for arrows of forces
    signals: SignalGroup[];
    document: Record<string, unknown>; // as files write it, with expressions as text
    // Of adaptive dynamics. [offset, count] as of meshes. carriers: i32, per body the one that carries it, -1 the ground.
    // centres, f32: a large mechanism is drawn as balls of a radius, m, at these places of the frames of its bodies.
    tree?: { carriers: [number, number]; centres?: [number, number]; radius?: number };
    numbers: Record<string, unknown>; // the same with numbers in the place of expressions
    palette: { kind: string; sizes: [string, number][] }[]; // kinds of bodies with their lengths, m
    joint_kinds: string[];
    force_kinds: { kind: string; numbers: [string, number | null][] }[]; // null: by the present distance
};
export type View = { toward: Vec3; up: Vec3; right: Vec3 }; // toward: from the mechanism to the eye; unit vectors
// table: of the document ("bodies", "joints", "forces", "constraints", ...), "" for what stands in none.
export type Piece = {
    table: string;
    element: string;
    role: "shape" | "body" | "joint" | "support" | "surface";
    carrier: number;
    mesh: number;
    position: Vec3;
    rotation: Quat;
    color: Color;
};
export type Joint = {
    name: string;
    kind: string;
    carriers: [number, number];
    point: Vec3;
    axis: Vec3 | null;
    driven: boolean;
    pieces: number[];
    at: [Vec3, Vec3];
};
// A spring, string or massless rod: its mesh lies along z from 0 to 1 and is stretched between the ends. spans: where
// it is drawn in several parts, the number of these, which frames then contain from first on; 0 for a straight one.
export type Link = {
    name: string;
    table: string;
    kind: string;
    carriers: [number, number];
    points: [Vec3, Vec3];
    mesh: number;
    color: Color;
    first: number;
    spans: number;
};
// A beam. The x of its mesh counts nodes, from 0 on; y and z are those of its sections, which stand across its axis at
// rings, places along x. Between two nodes the sections are on the screw from the one to the other.
export type Sweep = { name: string; carriers: number[]; mesh: number; rings: number[]; color: Color };
export type Point = { name: string; body: number; position: Vec3 }; // name: of the marker, "" for a joint's end
// The name of a signal is `${group}.${label}`; table and element as in Piece ("" for energies). usual: worth showing first
// (2), worth listing (1), or hidden unless searched for (0).
export type SignalGroup = {
    group: string;
    table: string;
    element: string;
    signals: [label: string, unit: string, usual: 0 | 1 | 2][];
};

export type Scene = SceneHead & {
    edition: number;
    vertices: Float32Array[];
    indices: Uint32Array[];
    normals: (Float32Array | null)[];
    carriedBy: Int32Array | null;
    centres: Float32Array | null;
};

// 2: a frame, 96 bytes of head. Positions are relative to an origin of f64, so that digits are kept far out.
export type Frame = {
    status: number; // in Statuses
    edition: number; // low 16 bits: of the scene that it belongs to
    number: number; // counts snapshots
    time: number;
    first: number; // of what was recorded
    last: number;
    speed: number; // asked for
    factor: number; // achieved; NaN while it stands
    moved: number; // seq of the last move of this page that is in it
    bodies: number;
    late: boolean;
    moving: boolean; // bodies are shown on their way, while time stands
    origin: Vec3;
    poses: Float32Array; // bodies x 7: position - origin, rotation
    twists: Float32Array; // bodies x 6: velocity, angular velocity; or empty
    accelerations: Float32Array; // bodies x 6; or empty
    arrows: Float32Array; // n x 8: tail - origin, vector (N, N m), kind in ArrowKinds, index of the joint, force or contact
    hands: Float32Array; // n x 7: index of the body, point - origin, target - origin
    spans: Float32Array; // n x 6: both ends - origin of parts of bent links
    touching: Float32Array; // n x 6: point - origin, size of the force, 1 where it slips, index of the contact
    beams: Float32Array; // values at all rings of scene.sweeps, in their order, NaN where there are none; or empty
    tree: TreeFrame | null;
};
// 4: a frame of adaptive dynamics, of what moved since the frame before. The head is that of 2, with counts of hands, of
// places that moved and of free joints, 2^32 - 1 where these are the same, in the places of hands, spans and touching.
// Then 10 f64 of Adaptivity, places f64, hands f32, bodies u32, free u32.
export type TreeFrame = {
    bodies: Uint32Array; // that moved against what carries them
    places: Float64Array; // 7 each: position and rotation in the frame of the carrier, or in the world
    free: Uint32Array | null; // bodies behind free joints; null: as before
    facts: Adaptivity;
};
export type Adaptivity = {
    error: number; // of accelerations, in the measure
    maxError: number;
    lost: number; // by locking joints, J
    kinetic: number; // J
    free: number; // joints
    joints: number; // of all
    maxJoints: number; // -1: as many as the error takes
    maxLoss: number; // W; -1: 1 % of the kinetic energy per second
    bounded: boolean; // whether maxJoints keeps the error above maxError
    absolute: boolean; // whether the error is in m/s^2, and not a part of what it is with no joint free
};
export const Statuses = ["paused", "playing", "open", "failed"] as const;
export const ArrowKinds = ["reaction force", "reaction moment", "force", "moment", "contact"] as const;
export const ARROW = 8;
export const HAND = 7;
export const SPAN = 6;
export const TOUCH = 6;
export const POSE = 7;
export const TWIST = 6;

// 3: signals. Either all of them (fresh), or what came after those that were sent before.
//   u8 3, u8 fresh, u16 edition, u32 rows, u32 columns, u32 0, times f64, columns f32 one after another.
export type Signals = { edition: number; fresh: boolean; time: Float64Array; columns: Float32Array[] };

export type Message =
    { kind: "scene"; scene: Scene } | { kind: "frame"; frame: Frame } | { kind: "signals"; signals: Signals };

const SCENE = 1;
const FRAME = 2;
const SIGNALS = 3;
const TREE_FRAME = 4;
const SAME = 0xffffffff;
const HEAD = 96;

/** What a binary message contains. The arrays of a frame are views into the message. */
export function parse(data: ArrayBuffer): Message {
    const kind = new Uint8Array(data, 0, 1)[0];
    if (kind === SCENE) return { kind: "scene", scene: parseScene(data) };
    if (kind === FRAME) return { kind: "frame", frame: parseFrame(data) };
    if (kind === TREE_FRAME) return { kind: "frame", frame: parseTreeFrame(data) };
    if (kind === SIGNALS) return { kind: "signals", signals: parseSignals(data) };
    throw new Error(`a message of kind ${kind}, which this page does not know: reload it`);
}

export function parseScene(data: ArrayBuffer): Scene {
    const view = new DataView(data);
    const edition = view.getUint16(2, true);
    const size = view.getUint32(4, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, size))) as SceneHead;
    const begin = 8 + size;
    const vertices = head.meshes.map(
        ({ vertices: [offset, count] }) => new Float32Array(data, begin + 4 * offset, count),
    );
    const indices = head.meshes.map(
        ({ triangles: [offset, count] }) => new Uint32Array(data, begin + 4 * offset, count),
    );
    const normals = head.meshes.map(({ normals: given }) =>
        given ? new Float32Array(data, begin + 4 * given[0], given[1]) : null,
    );
    const tree = head.tree;
    const carriedBy = tree ? new Int32Array(data, begin + 4 * tree.carriers[0], tree.carriers[1]) : null;
    const centres = tree?.centres ? new Float32Array(data, begin + 4 * tree.centres[0], tree.centres[1]) : null;
    return { ...head, edition, vertices, indices, normals, carriedBy, centres };
}

/** What the heads of all frames have. */
function headOf(view: DataView) {
    const u32 = (at: number) => view.getUint32(at, true);
    const f64 = (at: number) => view.getFloat64(at, true);
    const flags = u32(88);
    return {
        status: view.getUint8(1),
        edition: view.getUint16(2, true),
        number: u32(4),
        time: f64(8),
        first: f64(16),
        last: f64(24),
        speed: view.getFloat32(32, true),
        factor: view.getFloat32(36, true),
        moved: u32(40),
        bodies: u32(44),
        late: (flags & 1) !== 0,
        moving: (flags & 2) !== 0,
        origin: [f64(48), f64(56), f64(64)] as Vec3,
    };
}

export function parseTreeFrame(data: ArrayBuffer): Frame {
    const view = new DataView(data);
    const u32 = (at: number) => view.getUint32(at, true);
    const numbers = new Float64Array(data, HEAD, 10);
    const [hands, moved, free] = [u32(76), u32(80), u32(84)];
    let at = HEAD + 80;
    const places = new Float64Array(data, at, POSE * moved);
    at += 8 * POSE * moved;
    const held = new Float32Array(data, at, HAND * hands);
    at += 4 * HAND * hands;
    const bodies = new Uint32Array(data, at, moved);
    at += 4 * moved;
    const nothing = new Float32Array(0);
    const facts: Adaptivity = {
        error: numbers[0],
        maxError: numbers[1],
        lost: numbers[2],
        kinetic: numbers[3],
        free: numbers[4],
        joints: numbers[5],
        maxJoints: numbers[6],
        maxLoss: numbers[7],
        bounded: (numbers[8] & 1) !== 0,
        absolute: (numbers[8] & 2) !== 0,
    };
    return {
        ...headOf(view),
        poses: nothing,
        twists: nothing,
        accelerations: nothing,
        arrows: nothing,
        hands: held,
        spans: nothing,
        touching: nothing,
        beams: nothing,
        tree: { bodies, places, free: free === SAME ? null : new Uint32Array(data, at, free), facts },
    };
}

export function parseFrame(data: ArrayBuffer): Frame {
    const view = new DataView(data);
    const u32 = (at: number) => view.getUint32(at, true);
    const head = headOf(view);
    const { bodies } = head;
    const flags = u32(88);
    let at = HEAD;
    const take = (count: number) => {
        const found = new Float32Array(data, at, count);
        at += 4 * count;
        return found;
    };
    return {
        ...head,
        poses: take(POSE * bodies),
        twists: take(flags & 4 ? TWIST * bodies : 0),
        accelerations: take(flags & 8 ? TWIST * bodies : 0),
        arrows: take(ARROW * u32(72)),
        hands: take(HAND * u32(76)),
        spans: take(SPAN * u32(80)),
        touching: take(TOUCH * u32(84)),
        beams: take(u32(92)),
        tree: null,
    };
}

export function parseSignals(data: ArrayBuffer): Signals {
    const view = new DataView(data);
    const rows = view.getUint32(4, true);
    const columns = view.getUint32(8, true);
    const begin = 16 + 8 * rows;
    return {
        edition: view.getUint16(2, true),
        fresh: view.getUint8(1) === 1,
        time: new Float64Array(data, 16, rows),
        columns: Array.from({ length: columns }, (_, k) => new Float32Array(data, begin + 4 * rows * k, rows)),
    };
}

// ---------------------------------------------------------------------------------------------------------------
// A recorded page
// ---------------------------------------------------------------------------------------------------------------

// A recorded page has the same bundle and an element <script type="text/plain" id="recording"> with base64 of messages,
// one after another: u32 bytes, u32 0, then the message, padded to a multiple of 8. First the scene, then all frames in
// the order of time, then signals, once, all of those in scene.signals, which has few in a recording, in their order. There is no WebSocket then.
export type Recording = { scene: Scene; frames: Frame[]; signals: Signals | null };

export const RECORDING = "recording"; // the id of that element

export function parseRecording(data: ArrayBuffer): Recording {
    const view = new DataView(data);
    let scene: Scene | null = null;
    let signals: Signals | null = null;
    const frames: Frame[] = [];
    for (let at = 0; at + 8 <= data.byteLength;) {
        const size = view.getUint32(at, true);
        const message = parse(data.slice(at + 8, at + 8 + size));
        if (message.kind === "scene") scene = message.scene;
        else if (message.kind === "frame") frames.push(message.frame);
        else signals = message.signals;
        at += 8 + 8 * Math.ceil(size / 8);
    }
    if (scene === null) throw new Error("the recording has no scene");
    return { scene, frames, signals };
}

// ---------------------------------------------------------------------------------------------------------------
// Files of the page
// ---------------------------------------------------------------------------------------------------------------
//
// The build writes into src/bellcrank/viewer/page/static: index.html (which refers to page.css and page.js, and has
// <div id="app">), page.css, page.js (one file, an ES module without imports, which also works inline), LICENSES.txt.
// All icons and fonts are inside of these. The server serves /, /page.css, /page.js, /kinds.json and /ws.
