import { expect, test } from '@jest/globals';
import { LinkKeeper, stateOfLink } from './link-keeper.ts';
import type { LinkState } from './link-keeper.ts';

const URL = 'http://localhost/v1/vision/links/1';
const lost = new TypeError('no connection');

/** A link keeper whose requests succeed or fail in this order; `seen` lists the callbacks that a page receives. */
function keep(outcomes: (Error | string)[], states: LinkState[] = []) {
  const seen: unknown[] = [];
  const waits: number[] = [];
  const keeper = new LinkKeeper({
    make: () => {
      const outcome = outcomes.shift() ?? 'none';
      return typeof outcome === 'string' ? Promise.resolve(outcome) : Promise.reject(outcome);
    },
    ask: () => Promise.resolve(states.shift() ?? 'unplayable'),
    wait: async (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    onLink: (url) => seen.push(url),
    onFault: (fault) => seen.push(fault),
    onProblem: (error) => seen.push(error),
  });
  return { keeper, seen, waits };
}

test('a link is requested until the connection is back; then nothing says that it was lost', async () => {
  const { keeper, seen, waits } = keep([lost, lost, 'a']);
  await keeper.renew();
  expect(seen).toEqual([lost, lost, undefined, 'a']);
  expect(waits).toHaveLength(2);
});

test('a link request that is refused permanently is not repeated', async () => {
  const refused = new SyntaxError('made up');
  const { keeper, seen } = keep([refused, 'a']);
  await keeper.renew();
  expect(seen).toEqual([refused]);
});

test('a link that no longer works is followed by another one, after a while', async () => {
  const { keeper, seen, waits } = keep(['a', 'b', 'c'], ['lost', 'lost']);
  await keeper.renew();
  await keeper.failed(false);
  expect([seen.at(-1), waits.length]).toEqual(['b', 1]);
  await keeper.failed(true);
  expect([seen.at(-1), waits.length]).toEqual(['c', 2]);
});

test('a video that is gone, or cannot be played, gets no further link', async () => {
  for (const state of ['gone', 'unplayable'] as const) {
    const { keeper, seen } = keep(['a', 'b'], [state]);
    await keeper.renew();
    await keeper.failed(false);
    expect(seen).toEqual([undefined, 'a', state]);
  }
});

test('a page that was left receives nothing', async () => {
  const { keeper, seen } = keep(['a']);
  keeper.end();
  await keeper.renew();
  expect(seen).toEqual([]);
});

const answering = (status: number, body: unknown) => () => Promise.resolve(Response.json(body, { status }));
const refusal = (reason: string) => ({ details: { reason } });

test.each([
  ['its bytes come', answering(206, 0), false, 'unplayable'],
  ['its bytes come again after a cut', answering(206, 0), true, 'lost'],
  ['the video is not stored', answering(404, refusal('video_not_found')), false, 'gone'],
  ['the link has expired', answering(404, refusal('link_invalid')), true, 'lost'],
  ['the service is too busy', answering(503, refusal('results_unavailable')), false, 'lost'],
  ['nothing answers', () => Promise.reject(lost), false, 'lost'],
] as const)('when %s', async (_case, fetch, wasCut, state) => {
  expect(await stateOfLink(URL, wasCut, fetch)).toBe(state);
});
