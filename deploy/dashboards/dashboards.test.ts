import { describe, expect, test } from '@jest/globals';
import { dashboards } from './all.ts';
import { grafanaJson } from './grafana.ts';

interface Drawn {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  collapsed?: boolean;
  panels?: Drawn[];
  fieldConfig?: { defaults: { links: { url: string }[] } };
}

describe.each(dashboards)('the dashboard "$title"', (dashboard) => {
  const { panels } = JSON.parse(grafanaJson(dashboard)) as { panels: Drawn[] };
  const everything = panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
  const drawn = everything.filter(({ type }) => type !== 'row');

  test('shows every panel of its sections, and gives each an id', () => {
    const titles = dashboard.sections.flatMap((section) => section.panels.map(({ title }) => title));
    expect(drawn.map(({ title }) => title)).toEqual(titles);
    expect(new Set(everything.map(({ id }) => id)).size).toBe(everything.length);
  });

  test('keeps the panels of closed sections in their rows, and no more than thirty open', () => {
    const rows = panels.filter(({ type }) => type === 'row');
    const closed = dashboard.sections.filter(({ isClosed }) => isClosed).map(({ title }) => title);
    expect(rows.filter(({ collapsed }) => collapsed).map(({ title }) => title)).toEqual(closed);
    for (const { collapsed, panels: inRow = [] } of rows) expect(inRow.length > 0).toBe(collapsed);
    expect(panels.length - rows.length).toBeLessThanOrEqual(30);
  });

  test('says of every panel in a sentence how to read it', () => {
    for (const { title, description = '' } of drawn) {
      expect({ title, description }).toEqual({ title, description: expect.stringMatching(/^["A-Z0-9].{20,}\.$/) });
    }
  });

  test('asks questions, and gives no two panels one name', () => {
    for (const { title } of dashboard.sections) expect(title).toMatch(/\?$/);
    const titles = drawn.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  test('lays no panel over another, nor beyond the edge', () => {
    // Rows are opened one at a time, above what is below them.
    const opened = panels.map((panel) => panel.panels ?? []).filter((inRow) => inRow.length > 0);
    for (const together of [panels, ...opened]) placedApart(together);
  });

  function placedApart(together: Drawn[]) {
    const taken = new Set<string>();
    for (const { title, gridPos } of together) {
      const { x, y, w, h } = gridPos;
      expect({ title, right: x + w <= 24 }).toEqual({ title, right: true });
      for (let column = x; column < x + w; column += 1) {
        for (let row = y; row < y + h; row += 1) {
          expect({ title, over: taken.has(`${column} ${row}`) }).toEqual({ title, over: false });
          taken.add(`${column} ${row}`);
        }
      }
    }
  }

  test('leads from its panels to searches that Explore understands', () => {
    const addresses = drawn.flatMap(({ fieldConfig }) => fieldConfig?.defaults.links.map(({ url }) => url) ?? []);
    for (const address of addresses) {
      const filled = address.replaceAll(/\$\{[^}]+\}/g, 'x');
      const panes = JSON.parse(new URL(filled, 'http://grafana').searchParams.get('panes') ?? '') as {
        found: { queries: { query: string }[] };
      };
      expect(panes.found.queries[0]?.query).toMatch(/^\{ .+ \}$/);
    }
  });
});

test('the first dashboard is the one for timeouts', () => {
  expect(dashboards.map(({ name }) => name)).toEqual([
    'upstream-timeouts',
    'overview',
    'video',
    'quota',
    'kafka',
    'capacity',
  ]);
});
