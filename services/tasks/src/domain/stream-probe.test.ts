import { expect, test } from '@jest/globals';
import { problemOf } from './stream-probe.ts';

const image = { width: 1920, height: 1080 };

test.each([
  ['rtsp', 'auth_failed', 'auth_failed'],
  ['rtmp', 'auth_failed', 'auth_failed'],
  ['http', 'auth_failed', 'no_frame'],
  ['https', 'auth_failed', 'no_frame'],
  ['https', 'no_video_track', 'no_video_track'],
  ['rtsp', 'connection_refused_by_10.0.0.1', 'no_frame'],
] as const)('over %s a backend that says %s is passed on as %s', (scheme, reason, told) => {
  expect(problemOf({ scheme }, { image, problem: { reason } })).toBe(told);
});

test('an answer without a size and without a problem shows no frame', () => {
  expect([problemOf({ scheme: 'rtsp' }, {}), problemOf({ scheme: 'rtsp' }, { image })]).toEqual([
    'no_frame',
    undefined,
  ]);
});
