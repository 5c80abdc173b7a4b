import { expect, test } from '@jest/globals';
import { citationsIn, errorsIn } from './log-index.ts';

test('a message that is broken into two lines leads to the heading it stands below', () => {
  const text = [
    '# Failures',
    '## A disk with `kind` is full',
    'Log "request", then "no space\nleft here" with `kind="file"`.',
    '```',
    '"a fence of code"',
    '```',
  ];
  expect(citationsIn('docs/failures.md', text.join('\n'))).toEqual([
    { message: 'no space left here', place: '[A disk with `kind` is full](failures.md#a-disk-with-kind-is-full)' },
  ]);
});

test('a message of a runbook leads to its page', () => {
  const text = '# VisionDiskShort\n\n## Cases\n\nError "the disk is full".\n';
  expect(citationsIn('docs/runbooks/VisionDiskShort.md', text)).toEqual([
    { message: 'the disk is full', place: '[VisionDiskShort](runbooks/VisionDiskShort.md)' },
  ]);
});

test('errors that are logged are found, warnings are not', () => {
  const code =
    "logger.warn({ err }, 'it heals');\nthis.#options.logger.error(\n  { err: error },\n  'it does not',\n);\n";
  expect(errorsIn(code)).toEqual(['it does not']);
});
