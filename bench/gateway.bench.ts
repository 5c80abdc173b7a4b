import { Caller, system } from '../test/support/system.ts';
import { atMost, median, timed } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'gateway';

const SAMPLES = 600;
const WARM_UP = 100;

/**
 * What the check of a key, the rate limit and the RateLimit headers add to a request: the scene list, which the gateway
 * answers itself, with a key against the refusal of the same request without one.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const caller = await Caller.create({ requests_per_second: 100_000, burst: 100_000 });
  const url = `${system.baseUrl}/api/op/v1/scenes`;
  const get = async (headers: Record<string, string>) => {
    const reply = await fetch(url, { headers });
    await reply.arrayBuffer();
  };
  const keyed: number[] = [];
  const keyless: number[] = [];
  for (let index = 0; index < SAMPLES + WARM_UP; index += 1) {
    const [without, withKey] = [
      await timed(() => get({})),
      await timed(() => get({ authorization: `Bearer ${caller.key}` })),
    ];
    if (index < WARM_UP) continue;
    keyless.push(without);
    keyed.push(withKey);
  }
  return {
    figures: [
      {
        name: 'authentication and limits, added to a request, p50',
        value: median(keyed) - median(keyless),
        unit: 'ms',
        target: atMost(2),
      },
      { name: 'request with a key, answered by the gateway, p50', value: median(keyed), unit: 'ms' },
    ],
  };
}
