import { expect, test } from '@jest/globals';
import { AppError } from '@vision/contracts/errors';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { credentialsOf, parseStreamUrl } from './stream-url.ts';

const policy = createAddressPolicy();
const parse = (text: unknown) => parseStreamUrl(text, policy);

test.each([
  ['rtsp://camera.example.org/live', 'rtsp://camera.example.org/live'],
  ['RTSP://Camera.Example.ORG', 'rtsp://camera.example.org/'],
  ['rtsp://camera.example.org:554/a?b=c', 'rtsp://camera.example.org/a?b=c'],
  ['rtsp://camera.example.org:8554?x=1', 'rtsp://camera.example.org:8554/?x=1'],
  ['http://8.8.8.8:8080/a.m3u8', 'http://8.8.8.8:8080/a.m3u8'],
  ['https://[2606:4700:4700:0::1111]/x', 'https://[2606:4700:4700::1111]/x'],
  ['rtmp://host_1.example.org/app/key', 'rtmp://host_1.example.org/app/key'],
  ['rtsp://user@camera.example.org/', 'rtsp://user@camera.example.org/'],
  ['rtsp://us%65r:p%40ss%2F%3A%23@camera.example.org/', 'rtsp://user:p%40ss%2F%3A%23@camera.example.org/'],
  ["rtsp://u:it's(1)!*@camera.example.org/", 'rtsp://u:it%27s%281%29%21%2A@camera.example.org/'],
  ['rtsp://camera.example.org./live', 'rtsp://camera.example.org./live'],
])('%s is passed on as %s', (text, href) => {
  const parsed = parse(text);
  expect(parsed.href).toBe(href);
  expect(parse(parsed.href)).toEqual(parsed);
});

test('an address is taken apart; the port of the scheme is left out of the authority', () => {
  const url = parse('rtsp://us%20er:p%40ss@Camera.example.org:554/a/b?c=1');
  expect(url).toMatchObject({
    scheme: 'rtsp',
    host: 'camera.example.org',
    port: 554,
    authority: 'camera.example.org',
    pathAndQuery: '/a/b?c=1',
  });
  expect(credentialsOf(url)).toEqual({ user: 'us er', password: 'p@ss' });
  const bare = parse('http://[2606:4700:4700::1111]:8080');
  expect(bare).toMatchObject({ authority: '[2606:4700:4700::1111]:8080', pathAndQuery: '/' });
  expect(credentialsOf(bare)).toBeUndefined();
});

test('the label shows scheme and host and nothing else', () => {
  const { label } = parse('rtsp://user:canary@camera.example.org:8554/canary?key=canary');
  expect(label).toBe('rtsp://camera.example.org');
});

test.each([
  undefined,
  null,
  '',
  7,
  {},
  [],
  true,
  ' ',
  'camera.example.org',
  'ftp://camera.example.org/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'rtsp:camera.example.org/x',
  'rtsp:/camera.example.org/x',
  'rtsp://',
  'rtsp:///x',
  'rtsp://:554/x',
  'rtsp://user@/x',
  'rtsp://?x',
  'rtsps://camera.example.org/',
  'http+unix://x/',
  ' rtsp://camera.example.org/',
  'rtsp://camera.example.org/ ',
  'rtsp://cam era/',
  'rtsp://cam\tera/',
  'rtsp://camera.example.org/\n',
  'rtsp://camera.example.org/a\u0000',
  'rtsp://kämera.example.org/',
  'rtsp://①②⑦.⓪.⓪.①/',
  'http://evil.example\\@127.0.0.1/',
  'rtsp://evil.example\\@127.0.0.1/',
  'rtsp://a@b@127.0.0.1/',
  'rtsp://a@b@camera.example.org/',
  'rtsp://user:pa/ss@camera.example.org/',
  'rtsp://user:pa?ss@camera.example.org/',
  'rtsp://user:pa#ss@camera.example.org/',
  'rtsp://camera.example.org/#part',
  'rtsp://camera.example.org:0/',
  'rtsp://camera.example.org:/',
  'rtsp://camera.example.org:65536/',
  'rtsp://camera.example.org:12a/',
  'rtsp://camera.example.org:+80/',
  'rtsp://camera.example.org:80:80/',
  'rtsp://2130706433/',
  'rtsp://0x7f000001/',
  'rtsp://0177.0.0.1/',
  'rtsp://127.1/',
  'rtsp://0/',
  'rtsp://010.0.0.1/',
  'rtsp://1.2.3.4.5/',
  'http://2130706433/',
  'rtmp://0x7f.1/',
  'rtsp://camera.0x7f/',
  'rtsp://%31%32%37.0.0.1/',
  'rtsp://camera%2eexample.org/',
  'rtsp://[fe80::1%25lo]/',
  'rtsp://[fe80::1%lo]/',
  'rtsp://[::1/',
  'rtsp://::1/',
  'rtsp://[]/',
  'rtsp://[camera.example.org]/',
  'rtsp://[8.8.8.8]/',
  'rtsp://127.0.0.1/',
  'http://127.0.0.1:8080/',
  'rtsp://localhost/',
  'rtsp://LOCALHOST./',
  'rtsp://cam.localhost/',
  'rtsp://0.0.0.0/',
  'rtsp://10.0.0.1/',
  'rtsp://192.168.0.1/',
  'http://169.254.169.254/latest/meta-data',
  'rtsp://[::1]/',
  'rtsp://[::ffff:127.0.0.1]/',
  'rtsp://[::ffff:8.8.8.8]/',
  'rtsp://[64:ff9b::7f00:1]/',
  'rtsp://[2002:7f00:1::]/',
  'rtsp://[::127.0.0.1]/',
  'http://168.63.129.16/',
  'rtsp://camera.example.org/%0d%0aDESCRIBE',
  'rtsp://user:a%0Ab@camera.example.org/',
  'rtsp://camera.example.org/%00',
  'rtsp://camera.example.org/%zz',
  'rtsp://u%ff@camera.example.org/',
  'rtsp://-camera.example.org/',
  'rtsp://camera..example.org/',
  `rtsp://${'a'.repeat(64)}.example.org/`,
  `rtsp://camera.example.org/${'a'.repeat(2048)}`,
  'rtsp://camera.example.org/<script>',
  'rtsp://cam{era}/',
  'rtsp://camera,example.org/',
])('%j is refused as stream_url_invalid', (text) => {
  expect(() => parse(text)).toThrow(AppError);
  try {
    parse(text);
  } catch (error) {
    expect(error).toMatchObject({
      reason: 'stream_url_invalid',
      code: 'OP-TASK-REQUEST-INVALID',
      details: { field: 'stream_url' },
    });
  }
});

test.each(['rtsp://u:canary@10.0.0.1/canary', 'canary', 'rtsp://canary canary/', 'rtsp://h:canary/'])(
  'the refusal of %j repeats no part of it',
  (text) => {
    let message = '';
    try {
      parse(text);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('stream_url');
    expect(message).not.toContain('canary');
  },
);

test('the operator may allow this machine', () => {
  const local = createAddressPolicy(['127.0.0.0/8', '::1/128']);
  expect(parseStreamUrl('rtsp://localhost:8554/x', local).href).toBe('rtsp://localhost:8554/x');
  expect(parseStreamUrl('rtsp://127.0.0.1/x', local).host).toBe('127.0.0.1');
  expect(parseStreamUrl('http://[::1]:8080/x', local).href).toBe('http://[::1]:8080/x');
});

test('a port that streams do not come from is refused, unless the text may lead into a network of the operator', () => {
  const refusal = expect.objectContaining({ reason: 'stream_url_invalid', message: expect.stringContaining('a port') });
  expect(() => parse('rtsp://camera.example.org:22/x')).toThrow(refusal);
  expect(() => parse('http://8.8.8.8:6379/x')).toThrow(refusal);
  const near = createAddressPolicy(['10.1.0.0/16']);
  expect(parseStreamUrl('rtsp://10.1.2.3:9000/x', near).port).toBe(9000);
  expect(parseStreamUrl('rtsp://camera.example.org:9000/x', near).port).toBe(9000);
  expect(() => parseStreamUrl('rtsp://8.8.8.8:9000/x', near)).toThrow(refusal);
});
