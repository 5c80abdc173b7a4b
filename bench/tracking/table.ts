import type { Scores } from './metrics.ts';

export interface TrackerRow {
  tracker: string;
  sources: Map<string, Scores>;
}

/** A Markdown table: a line for each source and their mean; `IDF1 / MOTA / HOTA / switches` of each tracker. */
export function accuracyTable(rows: TrackerRow[]): string {
  const sources = [...(rows[0]?.sources.keys() ?? [])];
  const lines = sources.map((source) => [
    source,
    ...rows.map((row) => {
      const found = row.sources.get(source);
      return found ? cell(found) : '';
    }),
  ]);
  const means = rows.map((row) => {
    const all = [...row.sources.values()];
    const mean = (key: keyof Scores) => all.reduce((total, one) => total + one[key], 0) / Math.max(1, all.length);
    return cell({ mota: mean('mota'), idf1: mean('idf1'), hota: mean('hota'), switches: mean('switches') });
  });
  const table = [
    ['source', ...rows.map(({ tracker }) => tracker)],
    ['---', ...rows.map(() => '---')],
    ...lines,
    ['**mean**', ...means],
  ];
  return `${table.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
}

function cell({ mota, idf1, hota, switches }: Scores): string {
  return [idf1, mota, hota, switches].map((value) => value.toFixed(1)).join(' / ');
}
