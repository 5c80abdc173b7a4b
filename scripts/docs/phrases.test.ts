import { expect, test } from '@jest/globals';
import { oldPhrasesIn } from './phrases.ts';

test('an old phrase is found in prose, also where it is broken into two lines, with the term to write', () => {
  expect(oldPhrasesIn('The end\nmark of a task.', 'a.md')).toEqual(['a.md: "end mark": write "end-of-stream marker"']);
});

test('names on a wire, code, links and cited messages keep their words', () => {
  const text = [
    'The prefix `pictures/`, the log line "redis is away", and [this](pictures.md).',
    '```sh',
    'visionctl calibrate --pictures folder',
    '```',
    'The wall clock.',
    '| tasks: frozen past its lease at tasks.undo.refunded | 2 |',
  ];
  expect(oldPhrasesIn(text.join('\n'), 'a.md')).toEqual([]);
});

test('of an OpenAPI document only descriptions and summaries count', () => {
  const document = JSON.stringify({ enum: ['picture'], description: 'One picture of a "call"' }, undefined, 1);
  expect(oldPhrasesIn(document, 'a.json')).toEqual(['a.json: "picture": write "image"']);
});

test('of code the messages of the log count, of a Makefile its help', () => {
  const code = `const picture = 1;\nlogger.warn({ err: error, picture }, 'a picture failed');\n`;
  expect(oldPhrasesIn(code, 'a.ts')).toEqual(['a.ts: "picture": write "image"']);
  expect(oldPhrasesIn('walls: pictures ## decoders behind a wall\n', 'Makefile')).toEqual([
    'Makefile: "wall": write "sandbox"',
  ]);
});

test('of the changelog the part that is not released counts', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- A store that is away.\n\n## 0.3.0\n\n- A picture.\n';
  expect(oldPhrasesIn(changelog, 'CHANGELOG.md')).toEqual(['CHANGELOG.md: "is away": write "is unavailable"']);
  expect(oldPhrasesIn('# Changelog\n\n## 0.3.0\n\n- A picture.\n', 'CHANGELOG.md')).toEqual([]);
});

test('only the page that explains labelled photographs may call them `pictures`', () => {
  expect(oldPhrasesIn('Label some pictures of a store that is away.', 'docs/accuracy.md')).toEqual([
    'docs/accuracy.md: "is away": write "is unavailable"',
  ]);
  expect(oldPhrasesIn('Some pictures.', 'docs/sizing.md')).toHaveLength(1);
});
