import { serviceNames } from '../../deploy/local/service-environment.ts';
import type { ServiceName } from '../../deploy/local/service-environment.ts';

/**
 * The last release, and what is in this checkout: first as it is by default, then with what docs/operations.md says to
 * turn on when no process of the last release is left.
 */
export const versions = ['last', 'today', 'settled'] as const;
export type Version = (typeof versions)[number];

/** Which versions of each service run and are asked. */
export interface Stage {
  name: string;
  runs: Readonly<Record<ServiceName, readonly Version[]>>;
}

/** Neighbours that say most to each other are in different halves: gateway and images, tasks and inference. */
const half: readonly ServiceName[] = ['gateway', 'tasks', 'quota', 'notify'];

/** Today's code everywhere, but for these services. */
const except = (those: Partial<Stage['runs']>): Stage['runs'] => each((name) => those[name] ?? ['today']);

const everywhere = (...those: Version[]): Stage['runs'] => each(() => those);

function each(versionsOf: (service: ServiceName) => readonly Version[]): Stage['runs'] {
  return Object.fromEntries(serviceNames.map((name) => [name, versionsOf(name)])) as Stage['runs'];
}

/**
 * An upgrade that is stepped back and done again. In each stage everything begins something, and goes on with what the
 * stages before have begun. The first one runs on the schema of the last release, all others on today's.
 */
export const stages: readonly Stage[] = [
  { name: 'before the upgrade', runs: everywhere('last') },
  { name: 'first half old', runs: each((name) => (half.includes(name) ? ['last'] : ['today'])) },
  { name: 'one of each', runs: everywhere('last', 'today') },
  { name: 'first half new', runs: each((name) => (half.includes(name) ? ['today'] : ['last'])) },
  { name: 'stepped back', runs: everywhere('last') },
  { name: 'upgraded', runs: everywhere('today') },
  { name: 'results stepped back behind new workers', runs: except({ results: ['last'] }) },
  { name: 'everything compressed with zstd', runs: everywhere('settled') },
];

/** Both releases of results read segments, so today's workers publish them beside either. */
export const publishesSegments = ({ runs }: Stage) => !runs.inference.includes('last');

/** Stages by their names, in their order; all of them when none is named. */
export function stagesNamed(names: readonly string[]): readonly Stage[] {
  const unknown = names.filter((name) => stages.every((stage) => stage.name !== name));
  if (unknown.length > 0) {
    throw new Error(
      `No stage is called "${unknown.join('" or "')}", but ${stages.map(({ name }) => name).join(', ')}.`,
    );
  }
  return names.length === 0 ? stages : stages.filter(({ name }) => names.includes(name));
}
