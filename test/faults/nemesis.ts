import type { SubmitMode } from '@vision/shared/testing/scripted-backend';
import { pick } from './random.ts';
import { services } from './world.ts';
import type { World } from './world.ts';

/** One thing that goes wrong. `begin` returns how to end it; some faults end by themselves. */
export interface Fault {
  name: string;
  begin: (world: World) => undefined | (() => void);
}

const backendFaults: SubmitMode[] = [
  'accept_and_drop_reply',
  'accept_late',
  'accept_and_say_500',
  'accept_and_say_garbage',
  'refuse',
  'no_capacity',
  'drop',
  'hang',
];

/** Every fault of the suite; the names appear in the report. */
export const faults: Fault[] = [
  ...services.map((service): Fault => ({ name: `kill -9 ${service}`, begin: (world) => kill(world, service) })),
  ...services.map((service): Fault => ({ name: `freeze ${service}`, begin: (world) => freeze(world, service) })),
  ...(['postgres', 'redis', 's3'] as const).flatMap((name): Fault[] => [
    { name: `${name}: connections reset`, begin: (world) => toxic(world, name, { kind: 'reset' }) },
    { name: `${name}: black hole`, begin: (world) => toxic(world, name, { kind: 'black_hole' }) },
    { name: `${name}: latency`, begin: (world) => toxic(world, name, { kind: 'latency', ms: 80, jitterMs: 120 }) },
    { name: `${name}: replies cut short`, begin: (world) => toxic(world, name, { kind: 'cut_after', bytes: 700 }) },
  ]),
  {
    name: 'postgres: reply to COMMIT lost',
    begin: (world) => toxic(world, 'postgres', { kind: 'lose_commit_reply', probability: 0.3 }),
  },
  { name: 'inference: refused', begin: (world) => toxic(world, 'inference', { kind: 'refuse' }) },
  { name: 'inference: black hole', begin: (world) => toxic(world, 'inference', { kind: 'black_hole' }) },
  { name: 'inference: connections reset', begin: (world) => toxic(world, 'inference', { kind: 'reset' }) },
  ...backendFaults.map((mode): Fault => ({
    name: `backend: ${mode.replaceAll('_', ' ')}`,
    begin: (world) => submit(world, mode),
  })),
  { name: 'backend: a job vanishes', begin: (world) => forget(world, 1) },
  { name: 'backend: restored, knows nothing', begin: (world) => forget(world, Infinity) },
  { name: 'backend: detect overloaded', begin: (world) => detect(world, 'overloaded') },
  { name: 'backend: detect drops', begin: (world) => detect(world, 'drop') },
  { name: 'kafka: frozen', begin: (world) => freeze(world, 'kafka') },
  { name: 'kafka: killed and restarted', begin: (world) => kill(world, 'kafka') },
  { name: 'postgres: killed and restarted', begin: (world) => kill(world, 'postgres') },
  { name: 'redis: killed and restarted', begin: (world) => kill(world, 'redis') },
  { name: 's3: killed and restarted', begin: (world) => kill(world, 's3') },
];

/** The next fault of a run; each is drawn once before any is drawn again. */
export function createDraw(random: () => number): () => Fault {
  let left: Fault[] = [];
  return () => {
    if (left.length === 0) left = [...faults];
    const fault = pick(random, left);
    left = left.filter((other) => other !== fault);
    return fault;
  };
}

function kill(world: World, program: string): undefined {
  world.signal(program, program === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
  return undefined;
}

function freeze(world: World, program: string): () => void {
  world.signal(program, 'SIGSTOP');
  return () => world.signal(program, 'SIGCONT');
}

function toxic(
  world: World,
  name: keyof World['proxies'],
  what: Parameters<World['proxies']['s3']['set']>[0],
): () => void {
  world.proxies[name].set(what);
  return () => world.proxies[name].set({ kind: 'none' });
}

function submit({ backend }: World, mode: SubmitMode): () => void {
  backend.onSubmit = () => mode;
  return () => {
    backend.onSubmit = () => 'accept';
  };
}

/** The jobs that have run longest, for good. */
function forget({ backend, forgotten }: World, most: number): undefined {
  const live = [...backend.jobs.values()].filter(({ status }) => status === 'running').slice(0, most);
  for (const { job_id } of live) {
    forgotten.add(job_id);
    backend.jobs.delete(job_id);
  }
  return undefined;
}

function detect({ backend }: World, mode: ReturnType<World['backend']['onDetect']>): () => void {
  backend.onDetect = () => mode;
  return () => {
    backend.onDetect = () => 'ok';
  };
}
