import { expect, test } from '@jest/globals';
import { liveArguments } from './ffmpeg-arguments.ts';
import type { LiveSampling } from './ffmpeg-arguments.ts';

const sampling: LiveSampling = { fps: 5, fit: { kind: 'longest_side', side: 640 } };
const argumentsOf = (wanted: LiveSampling) => liveArguments({ container: 'mpegts', delivery: 'body' }, wanted);
const scaled = (side: number) =>
  `w='max(1,round(iw*min(1,${side}/max(iw,ih))))':h='max(1,round(ih*min(1,${side}/max(iw,ih))))':flags=bilinear`;
const firstOf = (fps: number) =>
  `select='isnan(prev_selected_t)+not(eq(floor(${fps}*(t+0.0005)),floor(${fps}*(prev_selected_t+0.0005))))'`;
const recorded = (descriptor: number) =>
  'format=rgb24,settb=1/1000,metadata=mode=add:key=sample:value=1,' +
  `metadata=mode=print:key=sample:direct=1:file=pipe\\\\:${descriptor}`;
const words = (text: string) => text.split(' ');
const raw = (descriptor: number) =>
  words(`-fps_mode passthrough -c:v rawvideo -threads 1 -f rawvideo -flush_packets 1 pipe:${descriptor}`);

test('without snapshots there is one output, as it was before there were any', () => {
  const all = argumentsOf(sampling);
  const filters = `${firstOf(5)},scale=${scaled(640)},${recorded(3)}`;
  const output = [words('-map 0:V:0 -an -sn -dn -vf'), filters, words('-filter_threads 1'), raw(1)].flat();
  expect(all.slice(-output.length)).toEqual(output);
  expect(all.slice(0, -output.length)).toEqual(
    [
      '-hide_banner -nostdin -nostats -loglevel level+verbose -max_alloc 536870912 -max_pixels 35389440',
      '-max_streams 16 -codec_whitelist h264,hevc,mpeg4,mjpeg,mpeg2video,vp8,vp9,libdav1d,av1,prores',
      '-fflags +discardcorrupt -flags low_delay -threads 1 -probesize 1000000 -analyzeduration 500000',
      '-fpsprobesize 0 -protocol_whitelist pipe -format_whitelist mpegts -f mpegts -i pipe:0',
    ]
      .join(' ')
      .split(' '),
  );
});

test('snapshots are a second output of raw pixels, one a second of the sampled frames', () => {
  const all = argumentsOf({ ...sampling, snapshots: { maxSide: 1280 } });
  const before = argumentsOf(sampling);
  const graph = [
    `[0:V:0]${firstOf(5)},split=2[sampled][kept]`,
    `[sampled]scale=${scaled(640)},${recorded(3)}[frames]`,
    `[kept]${firstOf(1)},scale@snapshot=${scaled(1280)},${recorded(5)}[snapshots]`,
  ];
  const outputs = [
    ['-filter_complex', graph.join(';'), '-filter_complex_threads', '1'],
    ['-map', '[frames]', raw(1)].flat(),
    ['-map', '[snapshots]', raw(4)].flat(),
  ].flat();
  expect(all).toEqual([...before.slice(0, before.indexOf('-map')), ...outputs]);
});
