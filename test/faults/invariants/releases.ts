import type { Strike } from '../nemesis/nemesis.ts';
import type { State } from '../state.ts';
import type { Replica } from '../world/replicas.ts';
import type { Invariant } from './invariant.ts';

/** Of a run in which the second process of each service is of an older release. */
export const releaseInvariants: Invariant[] = [
  {
    id: 'release',
    says: 'The second process of each service runs the last release, however often it was killed, and the first one does not',
    check: async ({ world: { replicas, older } }: State) => {
      const told = await Promise.all(replicas.map(async (replica) => ({ replica, version: await versionOf(replica) })));
      return told
        .filter(({ replica, version }) => (version === older) !== replica.name.endsWith('-2'))
        .map(({ replica, version }) => `${replica.name} runs ${version}`);
    },
  },
];

async function versionOf({ healthUrl }: Replica): Promise<string> {
  const reply = await fetch(`${healthUrl}/metrics`, { signal: AbortSignal.timeout(5_000) });
  return /^vision_build_info\{.*version="([^"]+)"/m.exec(await reply.text())?.[1] ?? 'an unknown version';
}

/**
 * Known defects of a release: faults during which its process delays stops. A tasks process of 0.3.0 whose clock is
 * wrong is refused by inference, and claims the tasks that it cannot ask about again and again.
 */
const delaysStops: Record<string, RegExp> = { '0.3.0': /^tasks-2: clock/ };

export const isDelayedByRelease = (older: string | undefined, { name }: Strike) =>
  older !== undefined && delaysStops[older]?.test(name) === true;
