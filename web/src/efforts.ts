// Plots the efforts of drives whose sizes are alike, once a marker is jogged.

import { knownIn, MOST, plot, plotted } from "./plotted.ts";
import { scene } from "./state.ts";

export function plotEfforts(): void {
  const of = scene.peek();
  if (!of) return;
  const efforts = [...knownIn(of).values()].filter(({ name, usual }) => /^(drive|joint|force)\..*effort/.test(name) && usual > 0).map(({ name }) => name);
  if (efforts.length && !plotted.peek().some((name) => efforts.includes(name))) plot(efforts.slice(0, Math.min(MOST, 4)));
}
