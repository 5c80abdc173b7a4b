import { join } from 'node:path';
import { benchCommand } from '../scripts/release/measurements.ts';
import { writeSection } from '../scripts/release/written-section.ts';
import type { Figure } from './figures.ts';
import { boundText, keeps, shownValue } from './verdict.ts';

const root = join(import.meta.dirname, '..');

/** Writes the figures of one benchmark into its page, below the commit that was measured. */
export function recordFigures(benchmark: string, figures: readonly Figure[]): void {
  const rows = figures.map((figure) => {
    const { name, unit, target, floor, value } = figure;
    const missed = target && !keeps(value, target) ? ', missed' : '';
    const cells = [
      name,
      shownValue(figure),
      unit,
      target ? `${boundText(target)}${missed}` : '',
      floor ? boundText(floor) : '',
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const table = ['| figure | value | unit | target | floor |', '|---|---|---|---|---|', ...rows].join('\n');
  writeSection(root, benchCommand(benchmark), table);
}
