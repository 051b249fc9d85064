// The field above a list by which one searches it.

import type { Signal } from "@preact/signals";
import { Icon } from "../icons.tsx";

export function Finder({ of, value }: { of: string; value: Signal<string> }) {
    return (
        <div class="finder">
            <Icon name="search" />
            <input
                type="search"
                placeholder={of}
                aria-label={of}
                value={value.value}
                onInput={({ currentTarget }) => (value.value = currentTarget.value)}
            />
        </div>
    );
}
