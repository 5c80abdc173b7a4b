import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { sourceReasonOf } from '@vision/streams/source-error';
import { MESSAGE } from '../src/inputs/rtmp/rtmp-message.ts';
import { beforePlaying, handshakes, inPlaceOfPlaying, refused } from './support/hostile-rtmp.ts';
import { tcpServer } from './support/live-servers.ts';
import type { Elsewhere } from './support/live-servers.ts';
import { atEnd, longSignal, opener, playToEnd } from './support/live-watch.ts';
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
  const open = opener(url)(true, longSignal());
  const input = await open.catch((error: unknown) => sourceReasonOf(error));
  if (typeof input === 'string') return { server, reason: input, input: undefined };
  atEnd(input.close);
  const played = playToEnd(input);
  return { server, input, played, reason: undefined };
}

const at = (): Elsewhere => ({ host: '127.0.0.2', port: inner.port, url: `rtmp://127.0.0.2:${inner.port}/inner` });

test.each(beforePlaying)('%s ends the attempt (%s) and leads nowhere', async (_name, reason, script) => {
  const opened = await openAgainst(script(at()));
  expect(opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test.each(inPlaceOfPlaying)('%s ends the stream (%s)', async (_name, reason, script) => {
  const opened = await openAgainst(script(at()));
  await opened.played;
  await opened.input?.close();
  expect(opened.input?.failure() ?? opened.reason).toBe(reason);
  expect(inner.seen.connections).toBe(0);
});

test.each(handshakes)('%s in place of a handshake is no stream', async (_name, hello) => {
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
  const isPong = ({ type, payload }: (typeof server.others)[number]) =>
    type === MESSAGE.userControl && payload[1] === 7;
  const pong = await until(() => server.others.find(isPong));
  expect(pong.payload.toString('hex')).toBe('000701020304');
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
