import { MESSAGE } from '../../src/inputs/rtmp/rtmp-message.ts';
import type { Elsewhere } from './live-servers.ts';
import { info } from './scripted-rtmp.ts';
import type { RtmpScript } from './scripted-rtmp.ts';

export const refused = (more: Record<string, string>) =>
  info({ level: 'error', code: 'NetConnection.Connect.Rejected', description: 'no', ...more });

/** What a server answers before it plays, and the reason that ends the attempt. */
export const beforePlaying: [string, string, (at: Elsewhere) => RtmpScript][] = [
  [
    'a redirect by ex.redirect',
    'redirect_refused',
    (at) => ({
      connect: (v) => v.say('_error', 1, null, refused({}).set('ex', info({ code: 302, redirect: at.url }))),
    }),
  ],
  ['a refusal', 'connection_failed', () => ({ connect: (v) => v.say('_error', 1, null, refused({})) })],
  [
    'an application that is not there',
    'not_found',
    () => ({ connect: (v) => v.say('_error', 1, null, refused({ code: 'NetConnection.Connect.InvalidApp' })) }),
  ],
  [
    'a refusal that asks who we are',
    'auth_failed',
    () => ({
      connect: (v) => v.say('_error', 1, null, refused({ description: 'code=403 need auth; authmod=adobe' })),
    }),
  ],
  ['the end in place of an answer', 'connection_failed', () => ({ connect: (v) => v.say('close', 0, null) })],
  [
    'a stream without a number',
    'unreadable',
    () => ({ createStream: (v, [, id]) => v.say('_result', id, null, 'one') }),
  ],
  [
    'a stream with an odd number',
    'unreadable',
    () => ({ createStream: (v, [, id]) => v.say('_result', id, null, -1.5) }),
  ],
  [
    'a command that is cut off',
    'unreadable',
    () => ({ connect: (v) => v.send(MESSAGE.command, Buffer.from([2, 0, 9, 97])) }),
  ],
  ['a command without a name', 'unreadable', () => ({ connect: (v) => v.say(1, 2) })],
  [
    'bytes of no protocol',
    'unreadable',
    () => ({ connect: (v) => v.raw(Buffer.from('HTTP/1.1 302 Found\r\n\r\n'.repeat(9))) }),
  ],
];

/** What it says in place of a stream, and the reason that ends it. */
export const inPlaceOfPlaying: [string, string, (at: Elsewhere) => RtmpScript][] = [
  [
    'a stream that is not there',
    'not_found',
    () => ({
      play: (v) => v.say('onStatus', 0, null, info({ level: 'error', code: 'NetStream.Play.StreamNotFound' })),
    }),
  ],
  [
    'a stream for others',
    'auth_failed',
    () => ({
      play: (v) => v.say('onStatus', 0, null, info({ level: 'error', code: 'NetStream.Play.Unauthorized' })),
    }),
  ],
  [
    'a redirect in a status',
    'redirect_refused',
    (at) => ({ play: (v) => v.say('onStatus', 0, null, refused({}).set('ex', info({ redirect: at.url }))) }),
  ],
  ['another codec', 'codec_unsupported', () => ({ play: (v) => v.send(MESSAGE.video, Buffer.from([0x12, 0, 0, 0])) })],
  ['a frame that is cut off', 'unreadable', () => ({ play: (v) => v.send(MESSAGE.video, Buffer.from([0x17, 0, 0])) })],
  [
    'an aggregate that leads beyond its end',
    'unreadable',
    () => ({
      play: (v) => v.send(MESSAGE.aggregate, Buffer.concat([Buffer.from([9, 0xff, 0xff, 0xff]), Buffer.alloc(20)])),
    }),
  ],
  [
    'an aggregate of more tags than a second has',
    'unreadable',
    () => ({
      play: (v) => v.send(MESSAGE.aggregate, Buffer.alloc(15 * 2000, Buffer.concat([Buffer.of(9), Buffer.alloc(14)]))),
    }),
  ],
  [
    'the end of the stream',
    'stream_ended',
    () => ({
      play: (v) => v.say('onStatus', 0, null, info({ level: 'status', code: 'NetStream.Play.UnpublishNotify' })),
    }),
  ],
];

/** What it sends in place of a handshake. */
export const handshakes: [string, Buffer][] = [
  ['another version', Buffer.alloc(1 + 2 * 1536, 6)],
  ['a page', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
];
