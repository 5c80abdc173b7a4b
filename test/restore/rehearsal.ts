import { until } from '@vision/shared/testing/until';
import type { ServiceName } from '../../deploy/local/service-environment.ts';
import { Caller, admin, example, form, jpeg, scene } from '../support/system.ts';
import { untilStatus, video } from '../support/video.ts';
import { ORPHAN_AGE_MS } from './settings.ts';
import { roundsOf } from './system.ts';
import type { RestoreSystem } from './system.ts';

/** What a restore was, and what was wrong afterwards. */
export interface Drill {
  says: string;
  found: string[];
}

interface RehearsalOptions {
  services: readonly ServiceName[];
  say: (text: string) => void;
}

/** Those that remove objects, the loops that do it, and the name of their objects in `vision_bucket_sweeps_off`. */
const sweepers: Partial<Record<ServiceName, { loops: readonly string[]; objects: string }>> = {
  tasks: { loops: ['retention'], objects: 'videos' },
  images: { loops: ['orphan-sweep', 'retention'], objects: 'pictures' },
  results: { loops: ['retention'], objects: 'segments' },
};

const COPIES = ['older', 'empty'] as const;

/**
 * Fills the system, takes copies, fills it further, and then sets back one database after the other. After each the
 * newest copy takes its place again, so every drill begins with the same system.
 */
export async function* rehearse(system: RestoreSystem, { services, say }: RehearsalOptions): AsyncGenerator<Drill> {
  const { copies } = system;
  await fill(system);
  say('the first objects are stored');
  const older = new Map<ServiceName, string>();
  for (const service of services) older.set(service, await copies.take(service, 'older'));
  await fill(system);
  const filled = Date.now();
  await until(() => Date.now() > filled + ORPHAN_AGE_MS);
  await sweep(system);
  say(`the bucket holds ${(await system.objects()).length} objects`);
  for (const service of services) {
    for (const kind of COPIES) {
      const found = await drill(system, service, kind === 'older' ? older.get(service) : undefined);
      yield { says: `${service} restored to an ${kind} copy`, found };
    }
  }
}

/** An image call, and a video whose frames are in the bucket. */
async function fill(system: RestoreSystem): Promise<void> {
  const caller = await Caller.create();
  const segments = async () => (await system.objects()).filter((key) => key.startsWith('segments/')).length;
  const before = await segments();
  const images = await caller.detect(form(jpeg(await example('street.jpg')), scene('person_vehicle')));
  if (images.status !== 201) throw new Error(`image call: ${images.status} ${images.text}`);
  const upload = await caller.createUpload(form(scene('person_vehicle'), video(await example('street.mp4'))));
  if (upload.status !== 201) throw new Error(`upload: ${upload.status} ${upload.text}`);
  await untilStatus(caller, String(upload.body['task_id']), 'succeeded');
  await until(async () => (await segments()) > before, { timeoutMs: 120_000 });
}

/** Lets everything that removes objects run. */
async function sweep(system: RestoreSystem): Promise<void> {
  for (const [service, { loops }] of Object.entries(sweepers))
    await roundsOf(system, service as ServiceName, { loops, rounds: 2 });
  const ran = await admin('POST', '/admin/v1/retention/run');
  if (ran.status !== 200) throw new Error(`retention: ${ran.status} ${ran.text}`);
}

async function drill(system: RestoreSystem, service: ServiceName, copy: string | undefined): Promise<string[]> {
  const { copies, start, stop } = system;
  const before = await system.objects();
  await stop(service);
  const newest = await copies.take(service, 'newest');
  await copies.restore(service, copy);
  if (service === 'results' && copy !== undefined) await noteAll(system, before);
  await start();
  await sweep(system);
  const found = [
    ...(await isServed()),
    ...(await missing(system, before)),
    ...(copy === undefined ? [] : await isTold(system, service)),
  ];
  await stop(service);
  await copies.restore(service, newest);
  await start();
  await sweep(system);
  return [...found, ...(await missing(system, before)).map((fault) => `with the newest copy again: ${fault}`)];
}

/** As if the copy was taken between the sending of each object and its index: results sweeps by this list. */
async function noteAll({ copies }: RestoreSystem, objects: string[]): Promise<void> {
  const keys = objects.filter((key) => key.startsWith('segments/')).map((key) => `('${key}', current_date, 'epoch')`);
  await copies.query('results', 'delete from unindexed_objects');
  await copies.query(
    'results',
    `insert into unindexed_objects (object_key, day, noted_at)
     select key, day, noted_at::timestamptz from (values ${keys.join(', ')}) as noted (key, day, noted_at)`,
  );
}

async function missing({ objects }: RestoreSystem, before: string[]): Promise<string[]> {
  const now = new Set(await objects());
  return before.filter((key) => !now.has(key)).map((key) => `${key} is gone`);
}

/** A new caller gets an answer, whatever the restored database knows of the old ones. */
async function isServed(): Promise<string[]> {
  const caller = await Caller.create();
  const answer = await caller.detect(form(jpeg(await example('street.jpg')), scene('person_vehicle')));
  return answer.status === 201 ? [] : [`an image call got ${answer.status}: ${answer.text}`];
}

/** Those that remove objects say that they were set back. */
async function isTold(system: RestoreSystem, service: ServiceName): Promise<string[]> {
  const { objects } = sweepers[service] ?? {};
  if (objects === undefined) return [];
  const samples = await system.metrics(service);
  const off = samples.find(
    ({ name, labels }) =>
      name === 'vision_bucket_sweeps_off' && labels['objects'] === objects && labels['reason'] === 'restored',
  );
  return off?.value === 1 ? [] : [`vision_bucket_sweeps_off does not say that ${objects} were restored`];
}
