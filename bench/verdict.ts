import type { Bound, Figure } from './figures.ts';

/**
 * Units of figures that compare within one run or count: the same on a fast machine and on a slow one. A bound on any
 * other unit, such as ms or images/s, is shown and never fails.
 */
const COMPARABLE = new Set(['ratio', 'share', '%', 'points', 'bytes', 'rows', 'statements', 'versions']);

export const boundText = (bound: Bound) => ('atLeast' in bound ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`);

/** A value that is not a number keeps no bound. */
export const keeps = (value: number, bound: Bound) =>
  'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;

/** The bound whose breach fails the run: the floor where there is one, else the target. */
function enforcedBound({ unit, target, floor }: Figure): { bound: Bound; kind: 'floor' | 'target' } | undefined {
  if (!COMPARABLE.has(unit)) return undefined;
  if (floor) return { bound: floor, kind: 'floor' };
  return target && { bound: target, kind: 'target' };
}

/** One line for each figure of a benchmark that breaks its bound. */
export function breaches(benchmark: string, figures: readonly Figure[]): string[] {
  return figures.flatMap((figure) => {
    const enforced = enforcedBound(figure);
    if (!enforced || keeps(figure.value, enforced.bound)) return [];
    return [
      `${benchmark}: ${figure.name}: ${shownValue(figure)} ${figure.unit}, ${enforced.kind} ${boundText(enforced.bound)}`,
    ];
  });
}

/** Two digits, and no digits from 100 on; a value that would round to its bound from outside shows four. */
export function shownValue(figure: Figure): string {
  const { value } = figure;
  const short = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
  const misleads = [figure.target, figure.floor].some(
    (bound) => bound && keeps(value, bound) !== keeps(Number(short), bound),
  );
  return misleads ? value.toFixed(4) : short;
}

/** `target ≥ 0.85, missed; floor ≥ 0.6`; empty for a figure without bounds. */
export function boundsText({ value, target, floor }: Figure): string {
  const parts = [
    ...(target ? [`target ${boundText(target)}${keeps(value, target) ? '' : ', missed'}`] : []),
    ...(floor ? [`floor ${boundText(floor)}${keeps(value, floor) ? '' : ', missed'}`] : []),
  ];
  return parts.join('; ');
}
