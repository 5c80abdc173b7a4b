import { expect, test } from '@jest/globals';
import { readDescription } from './sdp.ts';

const head = ['v=0', 'o=- 1 1 IN IP4 10.0.0.1', 's=Ein Gerät', 'c=IN IP4 10.0.0.1', 't=0 0', 'a=control:*'];
const describe = (...lines: string[]) => readDescription(Buffer.from([...head, ...lines, ''].join('\r\n')));

test('the first video track of a known codec is found, with its sets of parameters', () => {
  const found = describe(
    'm=audio 0 RTP/AVP 8',
    'a=control:track0',
    'm=video 0 RTP/AVP 97',
    'a=rtpmap:97 AV1/90000',
    'm=video 0 RTP/AVP 98 96',
    'c=IN IP4 127.0.0.2',
    'a=rtpmap:96 H264/90000',
    'a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0LAHg==,aM4PyA==,%%%; profile-level-id=42c01e',
    'a=control:rtsp://127.0.0.2:554/track1',
  );
  expect(found).toEqual({
    codec: 'h264',
    payloadType: 96,
    clockRate: 90_000,
    trackControl: 'rtsp://127.0.0.2:554/track1',
    streamControl: '*',
    parameterSets: [Buffer.from('6742c01e', 'hex'), Buffer.from('68ce0fc8', 'hex')],
  });
});

test('motion JPEG needs no mapping, H.265 tells three kinds of sets, lines may end with LF', () => {
  expect(describe('m=video 0 RTP/AVP 26')).toMatchObject({ codec: 'mjpeg', payloadType: 26, clockRate: 90_000 });
  const sets = 'a=fmtp:96 sprop-vps=QAEM;sprop-sps=QgEB;sprop-pps=RAHB';
  const text = [...head, 'm=video 0 RTP/AVP 96', 'a=rtpmap:96 h265/90000', sets].join('\n');
  expect(readDescription(Buffer.from(text))).toMatchObject({ codec: 'h265' });
  expect(readDescription(Buffer.from(text)).parameterSets).toHaveLength(3);
});

test.each([
  ['no_video_track', ['m=audio 0 RTP/AVP 8']],
  ['no_video_track', []],
  ['codec_unsupported', ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 VP8/90000']],
  ['codec_unsupported', ['m=video 0 RTP/AVP 96']],
  ['codec_unsupported', ['m=video 0 RTP/SAVP 96', 'a=rtpmap:96 H264/90000']],
  ['codec_unsupported', ['m=video 0 udp 96', 'a=rtpmap:96 H264/90000']],
  ['codec_unsupported', ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/0444']],
  ['codec_unsupported', ['m=video 0 RTP/AVP 192', 'a=rtpmap:192 H264/90000']],
  ['codec_unsupported', ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000', 'a=fmtp:96 packetization-mode=2']],
  ['codec_unsupported', ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H265/90000', 'a=fmtp:96 sprop-max-don-diff=1']],
  ['unreadable', ['m=video 0 RTP/AVP 96\0', 'a=rtpmap:96 H264/90000']],
  ['unreadable', ['a=tool:\x1b[2J']],
  ['unreadable', ['no line of a description']],
  ['unreadable', Array.from({ length: 2000 }, () => 'a=x')],
])('%s: %j', (reason, lines) => {
  expect(() => describe(...lines)).toThrow(reason);
});

const manySets = (count: number) =>
  `a=fmtp:96 sprop-parameter-sets=${Array.from({ length: count }, () => 'Z0LA').join()}`;

test('more sets of parameters than any stream has are no description', () => {
  const video = ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000'];
  expect(describe(...video, manySets(64)).parameterSets).toHaveLength(64);
  expect(() => describe(...video, manySets(65))).toThrow('unreadable');
});

test('a track that names more formats than there are numbers for is left out', () => {
  const track = (others: number) => describe(`m=video 0 RTP/AVP${' 9'.repeat(others)} 96`, 'a=rtpmap:96 H264/90000');
  expect(track(127).payloadType).toBe(96);
  expect(() => track(128)).toThrow('codec_unsupported');
});

test('what does not begin as a description is none', () => {
  expect(() => readDescription(Buffer.from('#EXTM3U\n'))).toThrow('unreadable');
  expect(() => readDescription(Buffer.alloc(0))).toThrow('unreadable');
});

test('a description of more lines than any has is none, also when they are blank', () => {
  const video = ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000'];
  const blank = (count: number) => Array.from({ length: count }, () => '');
  expect(describe(...video, ...blank(900)).payloadType).toBe(96);
  expect(() => describe(...video, ...blank(1_000))).toThrow('unreadable');
});
