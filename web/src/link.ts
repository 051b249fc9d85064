// A mechanism within a link: its document, deflated, in the fragment, which browsers do not send to anybody.
//
// What comes by a link is data from elsewhere: its size is bounded before and after it is inflated, it is shown what it
// is, and only who looks at the page opens it.

const KEY = "#mechanism=";
const MOST = 100_000; // characters of a fragment
const TEXT = 400_000; // characters of a document

type Document = Record<string, unknown>;

async function through(data: BodyInit, stream: CompressionStream | DecompressionStream, most: number) {
    const reader = new Response(data)
        .body!.pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>)
        .getReader();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > most) {
            await reader.cancel();
            throw new Error("it is too large");
        }
        parts.push(value as Uint8Array<ArrayBuffer>);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The address of a page with a mechanism in it. */
export async function linkTo(document: Document, page: string): Promise<string> {
    const packed = await through(JSON.stringify(document), new CompressionStream("deflate-raw"), MOST);
    const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
    const text = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    if (text.length > MOST) throw new Error("it is too large");
    return `${page}${KEY}${text}`;
}

/** The document in a fragment; null where there is none. Throws for one that is no document, or too large. */
export async function documentIn(fragment: string): Promise<Document | null> {
    if (!fragment.startsWith(KEY)) return null;
    const text = fragment.slice(KEY.length);
    if (text.length > MOST) throw new Error("it is too large");
    if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new Error("it has letters that do not belong there");
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const data = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const plain = new TextDecoder("utf-8", { fatal: true }).decode(
        await through(data, new DecompressionStream("deflate-raw"), TEXT),
    );
    const found: unknown = JSON.parse(plain);
    if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error("it is no mechanism");
    return found as Document;
}
