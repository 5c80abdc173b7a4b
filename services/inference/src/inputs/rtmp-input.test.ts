import { expect, test } from '@jest/globals';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { parseStreamUrl } from '@vision/shared/net/stream-url';
import { concatList } from './rtmp-input.ts';

const policy = createAddressPolicy();
const listFor = (text: string) => concatList(parseStreamUrl(text, policy), 1936).split('\n');

test('the list names the relay, and the true address only where the server is told the application', () => {
  expect(listFor('rtmp://us%20er:p%40ss@camera.example.org/live/key?token=1')).toEqual([
    'ffconcat version 1.0',
    "file 'rtmp://us%20er:p%40ss@127.0.0.1:1936/live/key?token=1'",
    'option rtmp_live live',
    'option analyzeduration 500000',
    'option probesize 1000000',
    'option fpsprobesize 0',
    "option rtmp_tcurl 'rtmp://camera.example.org/live'",
    '',
  ]);
});

test('a quote in an address does not end the word it stands in', () => {
  const [, file, ...rest] = listFor("rtmp://camera.example.org/it's/a/key");
  expect(file).toBe(String.raw`file 'rtmp://127.0.0.1:1936/it'\''s/a/key'`);
  expect(rest.at(-2)).toBe(String.raw`option rtmp_tcurl 'rtmp://camera.example.org/it'\''s/a'`);
  expect(listFor('rtmp://a%27b@camera.example.org/live/key')[1]).toBe(
    String.raw`file 'rtmp://a'\''b:@127.0.0.1:1936/live/key'`,
  );
});
