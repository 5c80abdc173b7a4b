import { expect, test } from '@jest/globals';
import { divideAddress } from './rtmp-input.ts';

test.each([
  ['/live/key', 'live', 'key'],
  ['/live/key?token=a/b', 'live', 'key?token=a/b'],
  ["/it's/a/key", "it's/a", 'key'],
  ['/live/_inst_/a/key', 'live/_inst_', 'a/key'],
  ['/vod/mp4:folder/clip', 'vod', 'mp4:folder/clip'],
  ['/vod/clip.mp4', 'vod', 'mp4:clip.mp4'],
  ['/vod/clip.flv', 'vod', 'clip'],
  ['/live', 'live', ''],
  ['/live?token=1', 'live?token=1', ''],
  ['/live/', 'live', ''],
])('the path %s names the application %j and the stream %j', (path, app, stream) => {
  expect(divideAddress(path)).toEqual({ app, stream });
});
