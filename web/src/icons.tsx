// Icons of 24 by 24, drawn in strokes of the colour of the text.

const PATHS = {
    select: "M5 3l14 8-6 1.5L9.5 19z",
    rod: "M5 16.5L16.5 5a2 2 0 0 1 2.8 2.8L7.8 19.3A2 2 0 0 1 5 16.5z",
    box: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
    plate: "M3 12.5l11-5.5 7 3-11 5.5zM3 12.5v2l7 3v-2M10 17.5l11-5.5v-2",
    wheel: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 10.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zM12 3v7.500M12 13.5V21M3 12h7.500M13.5 12H21",
    mesh: "M12 3l9 7-3.5 10h-11L3 10zM12 3L9 12l-6-2M12 3l3 9 6-2M9 12h6M9 12l-2.500 8M15 12l2.500 8",
    hinge: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
    slider: "M3 17h18M3 20h18M7 8h10v6H7zM9.500 5L7 3M9.500 3h9M16 5l2.500-2L16 1",
    ball: "M12 8a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM5 8.500a8 8 0 0 0 14 9M12 8V3",
    weld: "M3 7h9v10H3zM12 7h9v10h-9M10 9l4 1.500-4 1.500 4 1.500-4 1.500",
    joint: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM16 13a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10.200 10.200l3.600 3.600",
    nail: "M12 3l6 10H6zM4 17h16M6 17l-2 3M11 17l-2 3M16 17l-2 3M20 17l-2 3",
    spring: "M12 2v3M12 19v3M12 5l6 1.800-12 3 12 3-12 3 6 1.700V19",
    damper: "M12 2v8M7 10h10M6 7v10h12V7M12 17v5",
    cable: "M4 5c0 8 16 6 16 14M4 3.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3zM20 17.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3z",
    motor: "M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM9 15V9.500l3 3 3-3V15M19 4v3h-3",
    gear: "M12 8.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM12 2.500v3M12 18.500v3M2.500 12h3M18.500 12h3M5.300 5.300l2.100 2.100M16.600 16.600l2.100 2.100M5.300 18.700l2.100-2.100M16.600 7.400l2.100-2.100",
    belt: "M7 7.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM18 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM7 7.500L18 9M7 16.500L18 15",
    contact: "M12 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM3 16h18M6 20l2-4M12 20l2-4M18 20l2-4",
    sensor: "M4 17a8 8 0 1 1 16 0zM12 17l4-6M12 17v0",
    trace: "M3 17c3-12 7-12 9-5s6 6 9-6M3 17h0",
    ruler: "M3 15L15 3l6 6L9 21zM7 11l2 2M10 8l3 3M13 5l2 2",
    cut: "M6 4l9 12M18 4L9 16M6.500 15a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM17.500 15a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
    play: "M7 4l13 8-13 8z",
    pause: "M8 4v16M16 4v16",
    step: "M5 4l10 8-10 8zM19 4v16",
    back: "M19 4L9 12l10 8zM5 4v16",
    open: "M3 19V5h6l2 3h9v3M3 19l3-8h16l-3 8z",
    save: "M4 4h13l3 3v13H4zM8 4v5h8V4M8 20v-7h8v7",
    undo: "M9 5L4 10l5 5M4 10h10a5 5 0 0 1 0 10h-3",
    redo: "M15 5l5 5-5 5M20 10H10a5 5 0 0 0 0 10h3",
    magnet: "M6 3v9a6 6 0 0 0 12 0V3h-4v9a2 2 0 0 1-4 0V3zM6 8h4M14 8h4",
    arrow: "M5 19L19 5M9 5h10v10",
    names: "M3 18L8 6l5 12M5 14h6M21 18v-7M21 14.500a3 3 0 1 0 0 .01",
    show: "M2 12c4-8 16-8 20 0-4 8-16 8-20 0zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
    fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
    view: "M12 3l8 4.500v9L12 21l-8-4.500v-9zM12 12l8-4.500M12 12v9M12 12L4 7.500",
    drawer: "M3 4h18v16H3zM3 14h18",
    right: "M3 4h18v16H3zM15 4v16",
    search: "M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM15.500 15.500L21 21",
    pin: "M9 3h6l-1 6 4 4H6l4-4zM12 13v8",
    copy: "M8 8h12v12H8zM4 16V4h12",
    mirror: "M12 3v18M9 6L3 18h6zM15 6l6 12h-6z",
    array: "M3 3h5v5H3zM10 10h5v5h-5zM17 17h5v5h-5z",
    plot: "M3 3v18h18M6 15l4-6 4 4 6-8",
    delete: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
    follow: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v4M12 18v4M2 12h4M18 12h4",
    jog: "M12 3v18M3 12h18M9 6l3-3 3 3M9 18l3 3 3-3M6 9l-3 3 3 3M18 9l3 3-3 3",
    assemble: "M4 4h6v6H4zM14 14h6v6h-6zM10 10l4 4",
    camera: "M3 8h4l2-3h6l2 3h4v11H3zM12 10a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7z",
    film: "M3 5h18v14H3zM8 5v14M16 5v14M3 9.500h5M3 14.500h5M16 9.500h5M16 14.500h5",
    more: "M5 12h0M12 12h0M19 12h0",
    close: "M5 5l14 14M19 5L5 19",
    add: "M12 4v16M4 12h16",
    help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2.500M12 18h0",
    gravity: "M12 3v14M7 12l5 5 5-5M5 21h14",
    sliders:
        "M4 6h9M17 6h3M4 12h3M11 12h9M4 18h11M19 18h1M15 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM9 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM17 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
    section: "M4 12h16M9 6v12M15 6v12",
    velocity: "M3 18h5M3 12h9M3 6h13M13 3l4 3-4 3",
    envelope: "M4 14a4 4 0 0 1 5-5 5 5 0 0 1 9 1 4 4 0 0 1 1 8H8a4 4 0 0 1-4-4z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
    return (
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d={PATHS[name]} />
        </svg>
    );
}
