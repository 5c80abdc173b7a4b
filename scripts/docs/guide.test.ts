import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { executedFences, expandGuide, guideFaults, unusedReasons } from './guide.ts';

const root = join(import.meta.dirname, '../..');
const parts = { limits: () => '| Limit |\n| --- |', answer: (name = '') => `\`\`\`http\n${name}\n\`\`\`` };
const executed = '<!-- executed: test/e2e/public-guide.test.ts "lists the scenes" -->';
const fence = '```sh\ncurl $BASE_URL\n```';

test.each([
  ['a fence without a marker', fence, 'no test executes the fence "curl $BASE_URL"'],
  ['an indented fence without a marker', `1. Create:\n\n   ${fence.replaceAll('\n', '\n   ')}`, 'no test executes'],
  ['a fence behind text behind its marker', `${executed}\n\nAnd now:\n\n${fence}`, 'no test executes the fence'],
  [
    'a marker of a test that is gone',
    `${executed.replace('scenes', 'seas')}\n\n${fence}`,
    'has no test "lists the seas"',
  ],
  ['a marker of a file that is gone', `${executed.replace('guide', 'gide')}\n\n${fence}`, 'has no test'],
  ['a table that is written by hand', '| Limit | Value |\n| ----- | :---: |\n| 1 | 2 |', 'the table "Limit | Value |"'],
  ['a marker that nothing generates', '<!-- generated: colours -->', 'nothing generates "colours"'],
])('refuses %s', (_name, source, fault) => {
  expect(guideFaults(root, source, parts).join('\n')).toContain(fault);
});

test('accepts generated tables and executed fences, and shows neither marker', () => {
  const source = `${executed}\n\n${fence}\n\n<!-- generated: answer getUsage -->\n\n1. A\n\n   <!-- generated: limits -->`;
  expect(guideFaults(root, source, parts)).toEqual([]);
  expect(executedFences(source)).toMatchObject([{ test: 'lists the scenes', text: 'curl $BASE_URL' }]);
  const answer = '```http\ngetUsage\n```';
  expect(expandGuide(source, parts)).toBe(`${fence}\n\n${answer}\n\n1. A\n\n   | Limit |\n   | --- |`);
});

test('names a listed reason that no code answers with', () => {
  const listed = { 'OP-SYS-UNAVAILABLE': { tasks_unavailable: '', database_busy: '', moon_full: '' } };
  expect(unusedReasons(listed, "fail.sysUnavailable('database_busy')", ['tasks'])).toEqual([
    'no code answers with the reason moon_full',
  ]);
});
