import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect } from '@jest/globals';
import { LIVE_DEFAULTS, watchLive } from '../../src/decoding/live-frames.ts';
import type { LiveDeps, LiveFrame, LiveSettings } from '../../src/decoding/live-frames.ts';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import type { Endpoint } from '@vision/shared/net/address-policy';
import { until } from '@vision/shared/testing/until';
import { openLiveInput } from '../../src/readers/open-live-input.ts';
import { createSourceAddresses } from '../../src/readers/source-addresses.ts';
import type { SourceAddresses } from '../../src/readers/source-addresses.ts';
import type { LiveReader, StreamUsage } from '../../src/readers/live-reader.ts';
import { SourceError } from '@vision/streams/source-error';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { sandbox } from './sandbox.ts';

export const street = new URL('../../../../examples/street.mp4', import.meta.url).pathname;

const closing: (() => unknown)[] = [];

/** Runs at the end of the test, last come first. */
export const atEnd = (close: () => unknown): void => void closing.push(close);

afterEach(async () => {
  while (closing.length > 0) await closing.pop()?.();
});

type Frames = Pick<ReturnType<typeof watchLive>, 'frames'>;

interface OpenerOptions {
  resolve?: SourceAddresses['resolve'];
  openTimeoutMs?: number;
  ca?: string | undefined;
  sandbox?: Sandbox;
  usage?: StreamUsage;
  /** The addresses that may be reached; names of hosts are then looked up as they are in production. */
  allowed?: readonly string[];
}

/** Ends what hangs, and nothing that a busy machine takes long for. */
const LONG_MS = 170_000;

/** For opening a source. */
export const longSignal = (): AbortSignal => AbortSignal.timeout(LONG_MS);

/**
 * Opens a source of this machine; names resolve to themselves unless the test says otherwise. The times for opening
 * and leaving are long: a test that waits for one to be over names its own. A reader that is killed for taking too long
 * to leave has not told why its source ended.
 */
export function opener(url: string, options: OpenerOptions = {}): LiveDeps['openInput'] {
  const { allowed, openTimeoutMs = LONG_MS, ca, sandbox: isolated = sandbox } = options;
  const rules = createSourceAddresses(createAddressPolicy(allowed ?? ['127.0.0.0/8']), { deadlineMs: openTimeoutMs });
  const { resolve = allowed ? rules.resolve : async ({ host }: Endpoint) => host } = options;
  const addresses = { ...rules, resolve };
  const source = { url, usage: options.usage ?? {} };
  return (isFirst, signal) =>
    openLiveInput({ addresses, sandbox: isolated, openTimeoutMs, leaveMs: LONG_MS, ca }, source, { isFirst, signal });
}

/**
 * Watches a source with short pauses between connections, by addresses that need no resolving. No connection is given
 * up for want of frames unless the test names a time.
 */
export function watch(url: string, settings: Partial<LiveSettings> = {}, deps: Partial<LiveDeps> = {}) {
  const ended = new AbortController();
  const retries: string[] = [];
  const startedAt = Date.now();
  const live = watchLive(
    {
      sandbox,
      openInput: opener(url),
      now: Date.now,
      onRetry: (reason) => retries.push(reason),
      ...deps,
    },
    { ...LIVE_DEFAULTS, noFrameMs: LONG_MS, backoff: { minMs: 100, maxMs: 200 }, ...settings },
    ended.signal,
  );
  atEnd(() => ended.abort());
  return { ...live, retries, startedAt, stop: () => ended.abort() };
}

export async function take(live: Frames, count: number): Promise<LiveFrame[]> {
  const frames: LiveFrame[] = [];
  while (frames.length < count) {
    const { value } = await live.frames.next();
    if (!value) break;
    frames.push(value);
  }
  return frames;
}

/** Why a source gave no frame, or `frames` when it did. */
export const reasonOf = (live: Frames) =>
  take(live, 1).then(
    () => 'frames',
    (error: unknown) => (error instanceof SourceError ? error.reason : error),
  );

export async function expectStreetFrames(live: ReturnType<typeof watch>): Promise<void> {
  const frames = await take(live, 8);
  expect(frames.every((frame) => frame.image.width === 768 && frame.image.height === 576)).toBe(true);
  const times = frames.map((frame) => frame.timeMs);
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // Frames that come in a burst stand closer than the 200 ms of sampling, but never closer than the clock lets them.
  expect(Math.min(...steps)).toBeGreaterThanOrEqual(50);
  expect(times[0]).toBeGreaterThanOrEqual(live.startedAt);
  expect(times[7]).toBeLessThanOrEqual(Date.now() + 101);
  live.stop();
  expect((await live.frames.next()).value).toBeUndefined();
}

/** Plays an open source to its end without looking at it, as ffmpeg would read it. */
export async function playToEnd(input: LiveReader): Promise<void> {
  input.video.resume();
  input.play();
  await until(() => input.video.readableEnded || input.video.destroyed);
}

type Answer = Parameters<typeof createServer>[1];

/** An HTTP server of one answer; returns its address. With `tls` it speaks https. */
export async function httpServer(answer: Answer, tls?: ServerOptions): Promise<string> {
  const server = (tls ? createTlsServer(tls, answer) : createServer(answer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves the files of a directory by their names; what `other` gives goes first. */
export function fileServer(directory: string, other: (name: string) => string | Buffer | undefined = () => undefined) {
  return httpServer((req, res) => {
    const name = req.url?.slice(1) ?? '';
    const own = other(name);
    if (own !== undefined) res.end(own);
    else
      readFile(`${directory}/${name}`).then(
        (bytes) => res.end(bytes),
        () => res.writeHead(404).end(),
      );
  });
}

/** What the processes of this machine were started with. */
export async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}
