import { expect, test } from '@jest/globals';
import { hideSecrets } from './hide-secrets.ts';

const shown = (value: unknown) => JSON.parse(hideSecrets(JSON.stringify(value))) as unknown;

test('values under names of secrets are hidden, however deep; all else stays as it was', () => {
  const event = { task_id: 'a', version: 3, source: { kind: 'stream', password: 'p' }, access_tokens: ['t'], ok: null };
  expect(shown(event)).toEqual({
    task_id: 'a',
    version: 3,
    source: { kind: 'stream', password: '***' },
    access_tokens: '***',
    ok: null,
  });
});

test.each([
  ['rtsp://user:pass@cam.example:554/live?key=1', 'rtsp://cam.example:554/***'],
  ['rtsp://user:p@ss@cam.example', 'rtsp://cam.example'],
  ['see https://host.example/a/b, then', 'see https://host.example/*** then'],
  ['http://host.example', 'http://host.example'],
  ['vk_5b1e7c449a516f0d_abcDEF-123', 'vk_5b1e7c449a516f0d_***'],
  ['authorization is Bearer abc.def', 'authorization is Bearer ***'],
  ['eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2ln', '***'],
  ['019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10', '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10'],
])('in text %s becomes %s', (text, expected) => {
  expect(shown({ text })).toEqual({ text: expected });
});

test('text that is no JSON is masked too, also where it was cut off', () => {
  expect(hideSecrets('{"password": "geheim", "a": rtsp://u:p@h/x')).toBe('{"password": "***", "a": rtsp://h/***');
  expect(hideSecrets('{"a": 1, "api_key": "abc')).toBe('{"a": 1, "api_key": "***"');
  expect(hideSecrets('broken')).toBe('broken');
});

test('a long text is cut before it is looked through, and not within the password of an address', () => {
  expect(hideSecrets('a.'.repeat(500_000))).toBe('a.'.repeat(10_000));
  const start = 'x '.repeat(9_990);
  expect(hideSecrets(`${start}rtsp://user:password@cam.example/live`)).toBe(`${start}rtsp`);
  expect(hideSecrets(`"${'x'.repeat(40)}://user:password@cam.example"`)).not.toContain('password');
});
