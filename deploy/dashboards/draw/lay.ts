import type { DrawnPanel } from './panel.ts';

/** A panel in its place, with the value of the variable that it is repeated for. */
export interface Placed {
  panel: DrawnPanel;
  chosen: Record<string, string>;
}

const COLUMNS = 24;
const IN_A_ROW = 3;

/** All panels as with every row open: what is below a row that was closed moves down. */
export function opened(panels: DrawnPanel[]): DrawnPanel[] {
  let moved = 0;
  return panels.flatMap((panel) => {
    const inRow = panel.panels ?? [];
    const all = [panel, ...inRow].map((one) => ({
      ...one,
      gridPos: { ...one.gridPos, y: one.gridPos.y + moved },
    }));
    const bottom = Math.max(...[panel, ...inRow].map(({ gridPos }) => gridPos.y + gridPos.h));
    moved += bottom - (panel.gridPos.y + panel.gridPos.h);
    return all;
  });
}

/** Repeats panels for the values of their variable, three in a row, and moves what is below down, as Grafana does. */
export function laidOut(panels: DrawnPanel[], values: Record<string, string[]>): Placed[] {
  let moved = 0;
  return panels.flatMap((panel) => {
    const { gridPos, repeat } = panel;
    const place = { ...gridPos, y: gridPos.y + moved };
    const each = repeat === undefined ? [] : (values[repeat] ?? []);
    if (repeat === undefined || each.length === 0) return [{ panel: { ...panel, gridPos: place }, chosen: {} }];
    const w = Math.floor(COLUMNS / Math.min(each.length, IN_A_ROW));
    moved += (Math.ceil(each.length / IN_A_ROW) - 1) * place.h;
    return each.map((value, index) => {
      const at = { x: (index % IN_A_ROW) * w, y: place.y + Math.floor(index / IN_A_ROW) * place.h, w, h: place.h };
      return {
        panel: { ...panel, title: panel.title.replaceAll(`$${repeat}`, value), gridPos: at },
        chosen: { [repeat]: value },
      };
    });
  });
}
