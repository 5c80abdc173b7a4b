import { diffLines } from 'diff';
import { withoutChance } from '../../../deploy/chart/examples.ts';

/** What tells two builds of one chart apart: the version in labels, and where images come from. */
const VARYING: [RegExp, string][] = [
  [/^(\s*helm\.sh\/chart: ).+$/gm, '$1chart'],
  [/^(\s*app\.kubernetes\.io\/version: ).+$/gm, '$1version'],
  [/(,service\.version=)[^,\s]+$/gm, '$1version'],
  [/^(\s*image: )\S+\/(vision\/\w+)(?::\S+|@sha256:[0-9a-f]{64})$/gm, '$1$2'],
];

/** Lines in which two renders differ beyond versions and the origin of images; none when they run the same. */
export function renderDifferences(one: string, other: string): string[] {
  return diffLines(sameForAll(one), sameForAll(other))
    .filter(({ added, removed }) => added || removed)
    .flatMap(({ value, added }) =>
      value
        .trimEnd()
        .split('\n')
        .map((line) => `${added ? '+' : '-'}${line}`),
    );
}

const sameForAll = (render: string) =>
  VARYING.reduce((text, [pattern, constant]) => text.replaceAll(pattern, constant), withoutChance(render));

/** Images that a render runs. */
export const imagesIn = (render: string) => [
  ...new Set([...render.matchAll(/^\s*image: "?([^\s"]+)"?$/gm)].map(([, image = '']) => image)),
];
