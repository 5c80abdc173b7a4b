import { z } from 'zod';
import { SLOTS } from '@vision/streams/budget';
import { FACT } from '../inputs/messages.ts';
import type { Fact } from '../inputs/messages.ts';
import type { Frame } from '../sandbox/frames.ts';

const id = z
  .int()
  .min(1)
  .max(2 ** 31);
// Reasons that a reader can find out. Others are decided on this side.
const reason = z.enum([
  'connection_failed',
  'auth_failed',
  'not_found',
  'timeout',
  'tls_invalid',
  'address_forbidden',
  'redirect_refused',
  'codec_unsupported',
  'no_video_track',
  'unreadable',
  'format_changed',
  'stream_ended',
  'too_much_data',
]);
const container = z.enum(['mpegts', 'flv', 'mov', 'matroska', 'mpeg', 'mjpeg', 'mpjpeg', 'h264']);
const time = z.int().min(0);
const usage = z.strictObject({
  bytesPaidAt: time,
  partsPaidAt: time,
  slowed: z.array(z.tuple([time, time])).max(SLOTS + 1),
});

const fact = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('connect'),
    id,
    host: z.string().min(1).max(253),
    port: z.int().min(1).max(65_535),
  }),
  z.strictObject({ kind: z.literal('taken'), id }),
  z.strictObject({
    kind: z.literal('opened'),
    container,
    delivery: z.enum(['body', 'recording', 'pieces', 'packed']),
  }),
  z.strictObject({ kind: z.literal('ended'), reason: reason.optional(), isFinished: z.boolean(), usage }),
]);

/** A fact as a reader tells it; a stranger's stream may have taken the reader over. @throws Error when it is none */
export function readFact({ kind, payload }: Frame): Fact {
  if (kind !== FACT) throw new Error('not a fact');
  return fact.parse(JSON.parse(payload.toString('utf8')));
}
