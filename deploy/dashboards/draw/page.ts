import type { Answer, Line, Mark, Span } from './ask.ts';
import { heatChart, stateChart, timeChart } from './chart.ts';
import type { DrawnDashboard, DrawnPanel } from './panel.ts';
import { colourOf, escaped, PALETTE, written } from './values.ts';

const COLUMN = 66;
const ROW = 38;
const GAP = 8;
/** Of the title of a panel, and of one line of its legend. */
const HEAD = 30;
const LEGEND = 20;

const STYLE = `body{margin:0;background:#111217;color:#ccccdc;font:12px "DejaVu Sans",sans-serif}
.p{position:absolute;background:#181b1f;border:1px solid #25272b;border-radius:2px;overflow:hidden}
.r{position:absolute;font-size:15px;padding:8px 4px}.t{padding:6px 8px;height:18px;font-weight:bold;white-space:nowrap}
svg text{fill:#9fa1a6;font-size:10px}.n{position:absolute;inset:${HEAD}px 0 0 0;display:flex;gap:6px;padding:4px 8px}
.n div{flex:1;text-align:center;white-space:nowrap;overflow:hidden}.l{padding:0 8px;line-height:${LEGEND}px;overflow:hidden}
.l span{margin-right:12px;white-space:nowrap}.l i{display:inline-block;width:10px;height:3px;margin-right:4px;vertical-align:middle}
.e{position:absolute;inset:${HEAD}px 0 0 0;display:flex;align-items:center;justify-content:center;color:#6e7077}
table{width:100%;border-collapse:collapse}td,th{text-align:left;padding:4px 8px;border-bottom:1px solid #25272b;white-space:nowrap}
h1{position:absolute;margin:8px 12px;font-size:18px}`;

export interface Filled {
  panel: DrawnPanel;
  chosen: Record<string, string>;
  answers: Answer[];
}

const WIDTH = 24 * COLUMN + 2 * GAP;

/** The time that is shown, and what happened in it. */
interface Shown {
  span: Span;
  marks: Mark[];
}

/** A page that shows a dashboard much as Grafana would, and its size. */
export function pageOf({ title }: DrawnDashboard, filled: Filled[], { span, marks }: Shown) {
  const top = 40;
  const parts = filled.map(({ panel, answers }) => {
    const { x, y, w, h } = panel.gridPos;
    const [width, height] = [w * COLUMN - GAP, h * ROW - GAP];
    const place = `left:${GAP + x * COLUMN}px;top:${top + y * ROW}px;width:${width}px;height:${height}px`;
    if (panel.type === 'row') return `<div class="r" style="${place}">▾ ${escaped(panel.title)}</div>`;
    const content = contentOf(panel, answers, { span, marks }, { width, height });
    return `<div class="p" style="${place}"><div class="t">${escaped(panel.title)}</div>${content}</div>`;
  });
  const height = top + ROW * Math.max(...filled.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h)) + GAP;
  const html = `<!doctype html><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style><h1>${escaped(title)}</h1>${parts.join('\n')}`;
  return { html, width: WIDTH, height };
}

function contentOf(
  panel: DrawnPanel,
  answers: Answer[],
  { span, marks }: Shown,
  size: { width: number; height: number },
): string {
  const lines = answers.flatMap((answer) => answer.lines);
  if (panel.datasource?.type !== 'prometheus')
    return `<div class="e">asks ${panel.datasource?.type ?? 'nothing'}</div>`;
  if (lines.length === 0) return `<div class="e">${panel.fieldConfig?.defaults.noValue ?? 'No data'}</div>`;
  const { unit, custom, thresholds } = panel.fieldConfig?.defaults ?? {};
  if (panel.type === 'stat') return numbers(lines, unit, thresholds?.steps);
  if (panel.type === 'table') return table(lines, unit);
  const legend = panel.type === 'timeseries' ? legendOf(lines, size.width) : { html: '', height: 0 };
  const room = { width: size.width - 10, height: size.height - HEAD - legend.height - 6 };
  const chart =
    panel.type === 'heatmap'
      ? heatChart(lines, span, room)
      : panel.type === 'state-timeline'
        ? stateChart(lines, span, room, thresholds?.steps)
        : timeChart(lines, span, room, { unit, isStacked: custom?.stacking !== undefined, marks });
  return `${chart}${legend.html}`;
}

function numbers(lines: Line[], unit: string | undefined, steps: Parameters<typeof colourOf>[1]): string {
  const size = lines.length === 1 ? 40 : Math.max(14, 26 - lines.length);
  const each = lines.map(({ name, points }) => {
    const value = points.at(-1)?.[1];
    const text = `<b style="font-size:${size}px;color:${colourOf(value, steps)}">${written(value, unit)}</b>`;
    return `<div>${lines.length > 1 ? `${escaped(name)}<br>` : ''}${text}</div>`;
  });
  return `<div class="n">${each.join('')}</div>`;
}

function table(lines: Line[], unit: string | undefined): string {
  const hidden = ['__name__', 'namespace'];
  const columns = [...new Set(lines.flatMap(({ labels }) => Object.keys(labels)))].filter(
    (name) => !hidden.includes(name),
  );
  const rows = lines
    .toSorted((a, b) => (b.points[0]?.[1] ?? 0) - (a.points[0]?.[1] ?? 0))
    .map(({ labels, points }) => {
      const cells = [...columns.map((name) => escaped(labels[name] ?? '')), written(points[0]?.[1], unit)];
      return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    });
  const head = [...columns, 'Value'].map((name) => `<th>${name}</th>`).join('');
  return `<table><tr>${head}</tr>${rows.join('')}</table>`;
}

/** Names in the colours of their lines, in as many rows as they need, four at most. */
function legendOf(lines: Line[], width: number): { html: string; height: number } {
  const characters = lines.reduce((sum, { name }) => sum + name.length + 4, 0);
  const rows = Math.min(4, Math.max(1, Math.ceil((characters * 7.5) / (width - 16))));
  const names = lines.map(
    ({ name }, index) =>
      `<span><i style="background:${PALETTE[index % PALETTE.length] ?? ''}"></i>${escaped(name)}</span>`,
  );
  const height = rows * LEGEND;
  return { html: `<div class="l" style="height:${height}px">${names.join('')}</div>`, height };
}
