import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { sourceReasonOf } from '../src/domain/source-error.ts';
import { MESSAGE } from '../src/inputs/rtmp/rtmp-message.ts';
import { tcpServer } from './support/live-servers.ts';
import { atEnd, opener } from './support/live-watch.ts';
import { info, scriptedRtmp } from './support/scripted-rtmp.ts';
import type { RtmpScript } from './support/scripted-rtmp.ts';

let inner: Awaited<ReturnType<typeof tcpServer>>;

beforeAll(async () => {
  inner = await tcpServer((socket) => socket.end(), '127.0.0.2');
});
afterAll(() => {
  inner.close();
});

async function openAgainst(script: RtmpScript, { hello, user = '' }: { hello?: () => Buffer; user?: string } = {}) {
  const server = await scriptedRtmp(script, hello);
  atEnd(server.close);
  const url = `rtmp://${user}127.0.0.1:${server.port}/live/key`;
  const open = opener(url)(true, AbortSignal.timeout(10_000));
  const input = await open.catch((error: unknown) => sourceReasonOf(error));
  if (typeof input === 'string') return { server, reason: input, input: undefined };
  atEnd(input.close);
  const fed = new PassThrough().resume();
  input.feed(fed);
  return { server, input, fed, reason: undefined };
}

const elsewhere = () => `rtmp://127.0.0.2:${inner.port}/inner`;
const refused = (more: Record<string, string>) =>
  info({ level: 'error', code: 'NetConnection.Connect.Rejected', description: 'no', ...more });

test.each<[string, string, RtmpScript]>([
  [
    'a redirect by ex.redirect',
    'redirect_refused',
    { connect: (v) => v.say('_error', 1, null, refused({}).set('ex', info({ code: 302, redirect: elsewhere() }))) },
  ],
  ['a refusal', 'connection_failed', { connect: (v) => v.say('_error', 1, null, refused({})) }],
  [
    'an application that is not there',
    'not_found',
    { connect: (v) => v.say('_error', 1, null, refused({ code: 'NetConnection.Connect.InvalidApp' })) },
  ],
  [
    'a refusal that asks who we are',
    'auth_failed',
    { connect: (v) => v.say('_error', 1, null, refused({ description: 'code=403 need auth; authmod=adobe' })) },
  ],
  ['the end in place of an answer', 'connection_failed', { connect: (v) => v.say('close', 0, null) }],
  ['a stream without a number', 'unreadable', { createStream: (v, [, id]) => v.say('_result', id, null, 'one') }],
  ['a stream with an odd number', 'unreadable', { createStream: (v, [, id]) => v.say('_result', id, null, -1.5) }],
  ['a command that is cut off', 'unreadable', { connect: (v) => v.send(MESSAGE.command, Buffer.from([2, 0, 9, 97])) }],
  ['a command without a name', 'unreadable', { connect: (v) => v.say(1, 2) }],
  [
    'bytes of no protocol',
    'unreadable',
    { connect: (v) => v.raw(Buffer.from('HTTP/1.1 302 Found\r\n\r\n'.repeat(9))) },
  ],
])('%s ends the attempt (%s) and leads nowhere', async (_name, reason, script) => {
  const opened = await openAgainst(script);
  expect(opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test.each<[string, string, RtmpScript]>([
  [
    'a stream that is not there',
    'not_found',
    { play: (v) => v.say('onStatus', 0, null, info({ level: 'error', code: 'NetStream.Play.StreamNotFound' })) },
  ],
  [
    'a stream for others',
    'auth_failed',
    { play: (v) => v.say('onStatus', 0, null, info({ level: 'error', code: 'NetStream.Play.Unauthorized' })) },
  ],
  [
    'a redirect in a status',
    'redirect_refused',
    { play: (v) => v.say('onStatus', 0, null, refused({}).set('ex', info({ redirect: elsewhere() }))) },
  ],
  ['another codec', 'codec_unsupported', { play: (v) => v.send(MESSAGE.video, Buffer.from([0x12, 0, 0, 0])) }],
  ['a picture that is cut off', 'unreadable', { play: (v) => v.send(MESSAGE.video, Buffer.from([0x17, 0, 0])) }],
  [
    'an aggregate that leads beyond its end',
    'unreadable',
    { play: (v) => v.send(MESSAGE.aggregate, Buffer.concat([Buffer.from([9, 0xff, 0xff, 0xff]), Buffer.alloc(20)])) },
  ],
  [
    'the end of the stream',
    'stream_ended',
    { play: (v) => v.say('onStatus', 0, null, info({ level: 'status', code: 'NetStream.Play.UnpublishNotify' })) },
  ],
])('%s ends the stream (%s)', async (_name, reason, script) => {
  const opened = await openAgainst(script);
  if (opened.input) await until(() => opened.fed.readableEnded);
  expect(opened.input?.failure() ?? opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test.each([
  ['another version', Buffer.alloc(1 + 2 * 1536, 6)],
  ['a page', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('%s in place of a handshake is no stream', async (_name, hello) => {
  expect((await openAgainst({}, { hello: () => hello })).reason).toBe('unreadable');
});

test('pings and windows are answered', async () => {
  const { server } = await openAgainst({
    play: (viewer) => {
      viewer.send(MESSAGE.windowAckSize, Buffer.from([0, 1, 0, 0]));
      viewer.send(MESSAGE.setPeerBandwidth, Buffer.from([0, 1, 0, 0, 2]));
      viewer.send(MESSAGE.userControl, Buffer.from([0, 6, 1, 2, 3, 4]));
      viewer.send(MESSAGE.audio, Buffer.alloc(100_000));
    },
  });
  const types = () => server.others.map(({ type }) => type);
  await until(() => types().includes(MESSAGE.acknowledgement) && types().includes(MESSAGE.windowAckSize));
  const pong = server.others.find(({ type, payload }) => type === MESSAGE.userControl && payload[1] === 7);
  expect(pong?.payload.toString('hex')).toBe('000701020304');
});

test('credentials with a quote are proven by the scheme that the server names, on connections to the same address', async () => {
  const apps: string[] = [];
  const { server, reason } = await openAgainst(
    {
      connect: (viewer, [, , object]) => {
        apps.push(String((object as Map<string, string>).get('app')));
        const said = [
          '[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : ',
          '[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user=x&salt=ab&challenge=cd&opaque=cd',
        ][apps.length - 1];
        if (said === undefined) viewer.say('_result', 1, null, info({ code: 'NetConnection.Connect.Success' }));
        else viewer.say('_error', 1, null, refused({ description: said }));
      },
    },
    { user: 'o%27neil:pa%27ss@' },
  );
  expect(reason).toBeUndefined();
  expect(server.seen.connections).toBe(3);
  expect(apps.slice(0, 2)).toEqual(['live', "live?authmod=adobe&user=o'neil"]);
  expect(apps[2]).toMatch(/^live\?authmod=adobe&user=o'neil&challenge=\w{8}&response=[\w+/]{22}==&opaque=cd$/);
});
