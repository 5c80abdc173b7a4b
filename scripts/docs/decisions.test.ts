import { expect, test } from '@jest/globals';
import { decisionFaultsOf } from './decisions.ts';

const contents = [
  '- [1. Runtime](0001-runtime.md)',
  '',
  '| former | now in |',
  '| ------ | ------ |',
  '| 2      | 1      |',
];

test('decision records that are listed, with former numbers that lead to them, are accepted', () => {
  expect(decisionFaultsOf(['0001-runtime.md'], contents.join('\n'))).toEqual([]);
});

test('a page that the table of contents lacks, and a former number with a page or without one, are named', () => {
  expect(decisionFaultsOf(['0002-clock.md'], contents.join('\n'))).toEqual([
    'docs/adr/README.md: lacks 0002-clock.md',
    'docs/adr/README.md: 2 is a former number and has a page',
    'docs/adr/README.md: 2 leads to 1, which has no page',
  ]);
});

test('more than thirty decision records are refused', () => {
  const pages = Array.from({ length: 31 }, (_, index) => `${String(index + 1).padStart(4, '0')}-theme.md`);
  const listed = pages.map((page) => `- [x](${page})`).join('\n');
  expect(decisionFaultsOf(pages, listed)).toEqual([
    'docs/adr: 31 pages, more than 30: add to the page of the same theme',
  ]);
});
