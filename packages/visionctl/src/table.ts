/** Control characters, and what turns the direction of text, hides, or begins a new line. */
export const UNPRINTED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Lines up rows under their column names; what is not printed is shown as `?`, so that data cannot steer a terminal.
 */
export function table(columns: string[], rows: Record<string, unknown>[]): string {
  if (rows.length === 0) return '(none)';
  const cells = [columns, ...rows.map((row) => columns.map((column) => show(row[column])))];
  const widths = columns.map((_column, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One `name: value` line each. */
export function facts(values: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${show(value)}`)
    .join('\n');
}

function show(value: unknown): string {
  if (value === undefined || value === null) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(UNPRINTED, '?');
}
