const scaled = (value: number, base: number, names: string[]): string => {
  let rest = value;
  let index = 0;
  for (; Math.abs(rest) >= base && index < names.length - 1; index += 1) rest /= base;
  return `${rounded(rest)}${names[index] ?? ''}`;
};

const rounded = (value: number) => String(Number(value.toPrecision(3)));

const seconds = (value: number): string => {
  if (value === 0) return '0 s';
  if (Math.abs(value) < 0.001) return `${rounded(value * 1e6)} µs`;
  if (Math.abs(value) < 1) return `${rounded(value * 1e3)} ms`;
  return Math.abs(value) < 120 ? `${rounded(value)} s` : `${rounded(value / 60)} min`;
};

/** A value in a unit of Grafana's, short as it writes it. */
export function written(value: number | undefined, unit = 'short'): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return '∞';
  if (unit === 's') return seconds(value);
  if (unit === 'percentunit') return `${rounded(value * 100)} %`;
  if (unit === 'bytes') return scaled(value, 1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB']);
  const ending = { reqps: ' req/s', cps: ' c/s' }[unit] ?? '';
  return `${scaled(value, 1000, ['', ' K', ' Mil'])}${ending}`;
}

/** The colour that thresholds give a value, of Grafana's dark theme. */
export function colourOf(value: number | undefined, steps: { color: string; value: number | null }[] = []): string {
  const reached = steps.filter((step) => step.value === null || (value !== undefined && value >= step.value));
  const name = reached.at(-1)?.color ?? 'green';
  return { green: '#73bf69', orange: '#ff9830', red: '#f2495c' }[name] ?? '#73bf69';
}

/** Of lines, in their order, as Grafana gives them. */
export const PALETTE = (
  '#73bf69 #f2cc0c #8ab8ff #ff780a #f2495c #5794f2 #b877d9 #705da0 #37872d #fade2a ' +
  '#447ebc #c15c17 #890f02 #0a437c #6d1f62 #584477 #b7dbab #f4d598 #70dbed #f9ba8f'
).split(' ');

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
