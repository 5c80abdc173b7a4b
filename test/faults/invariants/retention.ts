import { isDeepStrictEqual } from 'node:util';
import { countStored, isOfResults, misread, runRetention } from './checks.ts';
import type { Invariant } from './invariant.ts';
import { lasting } from './lasting.ts';
import type { State } from '../state.ts';

/** Longest round of retention that a service began by itself. */
const OWN_ROUND_MS = 30_000;

/** Looks at days to come, so it is the last: afterwards nothing is left. */
export const retention: Invariant = {
  id: 'I14',
  says: 'After 89 days everything can be read and nothing is removed; after 91 days nothing can be read and nothing is stored',
  check: async (state) => {
    const before = await countStored(state);
    await shiftClock(state, '89 days');
    const early = await runRetention();
    const kept = await countStored(state);
    const unread = await misread(state, 200);
    await shiftClock(state, '91 days');
    await runRetention();
    const left = await countStored(state);
    const ofResults = async () => (await state.stores.objects()).filter(isOfResults);
    // The service's own round may have begun first; what it removes is not waited for by those that are asked for.
    const resultsLeft = await lasting(ofResults, Date.now() + OWN_ROUND_MS);
    const stillRead = await misread(state, 404);
    return [
      ...early,
      ...(isDeepStrictEqual(ofRows(before), ofRows(kept)) ? [] : [`after 89 days ${JSON.stringify({ before, kept })}`]),
      ...unread.map((found) => `after 89 days ${found}`),
      ...(Object.values(left).every((count) => count === 0) ? [] : [`after 91 days ${JSON.stringify(left)}`]),
      ...resultsLeft.map((key) => `after 91 days ${key} is there`),
      ...stillRead.map((found) => `after 91 days ${found}`),
    ];
  },
};

/** Without the objects whose row a failover lost: they are removed a week after they were found. */
const ofRows = ({ objects: _objects, ...rest }: Record<string, number>) => rest;

/**
 * Those that hide and remove what has expired start anew with a clock that is ahead, one process of each: starting is
 * most of what this takes.
 */
async function shiftClock({ world }: State, offset: string): Promise<void> {
  const keepers = world.replicas.filter(({ service }) => ['tasks', 'images', 'results'].includes(service));
  await Promise.all(keepers.map((replica) => replica.stop()));
  const first = new Map(keepers.toReversed().map((replica) => [replica.service, replica]));
  await Promise.all([...first.values()].map((replica) => replica.start({ CLOCK_OFFSET: offset })));
}
