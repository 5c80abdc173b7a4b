import { expect, test } from '@jest/globals';
import { parseStreamUrl } from './stream-url.ts';

test('an address is taken apart; the port of the scheme is left out of the authority', () => {
  expect(parseStreamUrl('rtsp://us%20er:p%40ss@Cam.example:554/a/b?c=1')).toEqual({
    scheme: 'rtsp',
    host: 'cam.example',
    port: 554,
    authority: 'Cam.example',
    credentials: { user: 'us er', password: 'p@ss' },
    path: '/a/b?c=1',
  });
  expect(parseStreamUrl('http://[::1]:8080')).toMatchObject({ host: '::1', authority: '[::1]:8080', path: '/' });
});

test.each([
  'ftp://a/b',
  'file:///etc/passwd',
  'rtsp:///x',
  'x',
  'http://a b/',
  'http://a\\@b/',
  'rtmp://h:0/a',
  "rtmp://h/a'b",
])('%j is refused', (text) => {
  expect(() => parseStreamUrl(text)).toThrow('address_forbidden');
});
