import type { ReliabilityBin } from './reliability.ts';

const SIZE = 440;
const MARGIN = 56;
const PLOT = SIZE - MARGIN - 24;

/** A line of a reliability diagram, by what it stands for. */
interface Line {
  name: string;
  colour: string;
  bins: readonly ReliabilityBin[];
}

/**
 * A reliability diagram as SVG: what scores say against what is so, a point for each bin with its number of boxes. On
 * the diagonal both agree; below it scores promise too much.
 */
export function reliabilityDiagram(title: string, lines: readonly Line[]): string {
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE}" height="${SIZE + 24 * lines.length}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="white"/>
<text x="${MARGIN}" y="16" font-size="13">${escaped(title)}</text>
${ticks.map(grid).join('\n')}
<path d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}" stroke="#888" stroke-dasharray="4 4"/>
${lines.map(drawn).join('\n')}
${lines.map(legend).join('\n')}
<text x="${x(0.5)}" y="${SIZE - 12}" text-anchor="middle">predicted: mean score of the boxes</text>
<text transform="translate(14 ${y(0.5)}) rotate(-90)" text-anchor="middle">observed: share that is right</text>
</svg>
`;
}

const x = (share: number) => Math.round(MARGIN + share * PLOT);
const y = (share: number) => Math.round(24 + (1 - share) * PLOT);

const grid = (tick: number) =>
  `<path d="M${x(tick)} ${y(0)}V${y(1)}M${x(0)} ${y(tick)}H${x(1)}" stroke="#e4e4e4"/>` +
  `<text x="${x(tick)}" y="${y(0) + 16}" text-anchor="middle">${tick}</text>` +
  `<text x="${x(0) - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`;

function drawn({ colour, bins }: Line): string {
  const points = bins.filter(({ count }) => count > 0);
  const path = points.map(({ predicted, observed }) => `${x(predicted)} ${y(observed)}`).join('L');
  const marks = points.map(
    ({ predicted, observed, count }) =>
      `<circle cx="${x(predicted)}" cy="${y(observed)}" r="4" fill="${colour}"/>` +
      `<text x="${x(predicted) + 6}" y="${y(observed) + 12}" fill="${colour}" font-size="9">${count}</text>`,
  );
  return `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>${marks.join('')}`;
}

function legend({ name, colour }: Line, index: number): string {
  const top = SIZE + 6 + 20 * index;
  return (
    `<path d="M${MARGIN} ${top}h24" stroke="${colour}" stroke-width="2"/>` +
    `<text x="${MARGIN + 30}" y="${top + 4}">${escaped(name)}</text>`
  );
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
