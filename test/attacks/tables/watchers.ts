import { setTimeout as delay } from 'node:timers/promises';
import { system } from '../../support/system.ts';
import type { Answer, Caller } from '../../support/system.ts';
import type { AttackGroup, Target } from '../attack.ts';
import { INVALID } from '../create-streams.ts';
import { liveStream } from '../live-stream.ts';
import { counted, said } from '../say.ts';

const IN_FLIGHT = '429 OP-QUOTA-RATE-LIMITED too_many_in_flight';
const STREAMS = 20;

const probe = (caller: Caller, stream_url: string): Promise<Answer> =>
  caller.send('POST', '/v1/vision/stream-probes', {
    body: JSON.stringify({ stream_url }),
    headers: { 'content-type': 'application/json' },
  });

/** Opens as many streams of events as one subject may have; they stay open until the attack is over. */
async function openStreams({ atEnd }: Target, { key }: Caller): Promise<void> {
  const end = new AbortController();
  atEnd(() => end.abort());
  const headers = { authorization: `Bearer ${key}` };
  const open = () => fetch(`${system.baseUrl}/v1/vision/events/stream`, { headers, signal: end.signal });
  const opened = await Promise.all(Array.from({ length: STREAMS }, open));
  const refused = opened.filter(({ status }) => status !== 200);
  if (refused.length > 0) throw new Error(`${refused.length} streams were refused`);
}

export const watchers: AttackGroup = {
  title: 'Probes and streams of events',
  wanted: 'a look into inner networks without a task, or slots that are held for nothing',
  withinMs: 40_000,
  atOnce: 4,
  attacks: [
    ...['http', 'rtsp', 'rtmp'].map((scheme) => ({
      name: `a probe of an inner address over ${scheme}`,
      expected: INVALID,
      attempt: async (target: Target) => said(await probe(await target.caller(), (await target.inner()).url(scheme))),
    })),
    {
      name: 'three probes at once of a stream that gives no frame',
      expected: `2 × 200, 1 × ${IN_FLIGHT}`,
      attempt: async (target) => {
        const [caller, stream] = [await target.caller(), await liveStream(target)];
        const answers = await Promise.all([1, 2, 3].map(() => probe(caller, stream.stream_url)));
        return counted(answers.map(said));
      },
    },
    {
      name: 'the 21st stream of events, and a stream of results beside 20',
      expected: `2 × ${IN_FLIGHT}`,
      attempt: async (target) => {
        const caller = await target.caller();
        await openStreams(target, caller);
        const task = '/v1/vision/tasks/00000000-0000-7000-8000-000000000000/results/stream';
        const answers = [await caller.get('/v1/vision/events/stream'), await caller.get(task)];
        return counted(answers.map(said));
      },
    },
    {
      name: '20 streams of events that are left, then another one',
      expected: '200',
      attempt: async (target) => {
        const caller = await target.caller();
        const ends: (() => unknown)[] = [];
        await openStreams({ ...target, atEnd: (end) => void ends.push(end) }, caller);
        ends.forEach((end) => end());
        const end = new AbortController();
        target.atEnd(() => end.abort());
        const headers = { authorization: `Bearer ${caller.key}` };
        for (;;) {
          const url = `${system.baseUrl}/v1/vision/events/stream`;
          const { status } = await fetch(url, { headers, signal: end.signal });
          if (status !== 429) return String(status);
          await delay(500);
        }
      },
    },
  ],
};
