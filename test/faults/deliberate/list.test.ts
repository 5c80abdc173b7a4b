import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { DeliberateFault } from './deliberate-fault.ts';
import { deliberateFaults } from './list.ts';

// `make deliberate` takes hours and is seldom run; that its list follows the code is seen at once.
const root = join(import.meta.dirname, '../../..');
const textOf = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');

function whyUseless({ file, find, replace, caughtBy }: DeliberateFault): string[] {
  const places = textOf(file).split(find).length - 1;
  return [
    ...(places === 1 ? [] : [`${file} has the text ${places} times`]),
    ...(replace === find ? ['the text is replaced by itself'] : []),
    ...('test' in caughtBy && !textOf(caughtBy.file).includes(caughtBy.test)
      ? [`${caughtBy.file} has no test "${caughtBy.test}"`]
      : []),
    ...('world' in caughtBy && textOf(`test/simulation/worlds/${caughtBy.world}.ts`) === ''
      ? [`the simulation has no world ${caughtBy.world}`]
      : []),
  ];
}

test('each deliberate fault still has its place in the code and the test that has to notice it', () => {
  const useless = deliberateFaults
    .map((fault) => ({ fault: fault.says, why: whyUseless(fault) }))
    .filter(({ why }) => why.length > 0);
  expect(useless).toEqual([]);
});
