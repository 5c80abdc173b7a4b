import { expect, test } from '@jest/globals';
import { oldPhrasesIn } from './phrases.ts';

test('an old phrase is found in prose, also where it is broken into two lines, with the term to write', () => {
  expect(oldPhrasesIn('The end\nmark of a task.', false, 'a.md')).toEqual([
    'a.md: "end mark": write "end-of-stream marker"',
  ]);
});

test('names on a wire, code, links and cited messages keep their words', () => {
  const text = [
    'The prefix `pictures/`, the log line "redis is away", and [this](pictures.md).',
    '```sh',
    'visionctl calibrate --pictures folder',
    '```',
    'The wall clock.',
  ];
  expect(oldPhrasesIn(text.join('\n'), false, 'a.md')).toEqual([]);
});

test('of an OpenAPI document only descriptions and summaries count', () => {
  const document = JSON.stringify({ enum: ['picture'], description: 'One picture of a "call"' }, undefined, 1);
  expect(oldPhrasesIn(document, true, 'a.json')).toEqual(['a.json: "picture": write "image"']);
});
