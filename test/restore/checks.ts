import { until } from '@vision/shared/testing/until';
import type { ServiceName } from '../../deploy/local/service-environment.ts';
import { Caller, admin, example, form, jpeg, scene } from '../support/system.ts';
import { untilStatus, video } from '../support/video.ts';
import { roundsOf } from './system.ts';
import type { RestoreSystem } from './system.ts';

/** Those that remove objects, the loops that do it, and the name of their objects in `vision_bucket_sweeps_off`. */
export const sweepers = {
  tasks: { loops: ['retention'], objects: 'videos' },
  images: { loops: ['orphan-sweep', 'retention'], objects: 'pictures' },
  results: { loops: ['retention'], objects: 'segments' },
} as const;
export type Sweeper = keyof typeof sweepers;
export const isSweeper = (service: ServiceName): service is Sweeper => service in sweepers;

/** What a caller has stored. */
export interface Filled {
  caller: Caller;
  taskId: string;
}

/** An image call, and a video whose frames are in the bucket. */
export async function fill(system: RestoreSystem): Promise<Filled> {
  const caller = await Caller.create();
  const segments = async () => (await system.objects()).filter((key) => key.startsWith('segments/')).length;
  const before = await segments();
  const images = await caller.detect(form(jpeg(await example('street.jpg')), scene('person_vehicle')));
  if (images.status !== 201) throw new Error(`image call: ${images.status} ${images.text}`);
  const upload = await caller.createUpload(form(scene('person_vehicle'), video(await example('street.mp4'))));
  if (upload.status !== 201) throw new Error(`upload: ${upload.status} ${upload.text}`);
  const taskId = String(upload.body['task_id']);
  await untilStatus(caller, taskId, 'succeeded');
  await until(async () => (await segments()) > before, { timeoutMs: 120_000 });
  return { caller, taskId };
}

/** Lets everything that removes objects run. */
export async function sweep(system: RestoreSystem): Promise<void> {
  for (const [service, { loops }] of Object.entries(sweepers))
    await roundsOf(system, service as Sweeper, { loops, rounds: 2 });
  const ran = await admin('POST', '/admin/v1/retention/run');
  if (ran.status !== 200) throw new Error(`retention: ${ran.status} ${ran.text}`);
}

/** As if the copy was taken between the sending of each object and its index: results sweeps by this list. */
export async function noteAll({ copies }: RestoreSystem, objects: string[]): Promise<void> {
  const keys = objects.filter((key) => key.startsWith('segments/')).map((key) => `('${key}', current_date, 'epoch')`);
  await copies.query('results', 'delete from unindexed_objects');
  await copies.query(
    'results',
    `insert into unindexed_objects (object_key, day, noted_at)
     select key, day, noted_at::timestamptz from (values ${keys.join(', ')}) as noted (key, day, noted_at)`,
  );
}

/** What a service keeps of requests whose objects it stores before they have succeeded. */
const unfinished: Partial<Record<ServiceName, { reopen: string; left: string }>> = {
  tasks: {
    reopen: `update tasks set status = 'admitted', lease_until = 'epoch' where object_key is not null`,
    left: `select from tasks where status in ('draft', 'admitted', 'undoing')`,
  },
  images: {
    reopen: `with reopened as (delete from image_calls returning task_id)
             update idempotency_keys set state = 'working', expires_at = null, lease_until = 'epoch'
              where task_id in (select task_id from reopened)`,
    left: `select from idempotency_keys where state <> 'done'`,
  },
};

/** As if the copy was taken while these requests were in progress: they have succeeded since. */
export async function reopenAll({ copies }: RestoreSystem, service: ServiceName): Promise<void> {
  const { reopen } = unfinished[service] ?? {};
  if (reopen) await copies.query(service, reopen);
}

/** Resolves when the recovery has rolled back what was in progress in the copy. */
export async function recovered({ copies }: RestoreSystem, service: ServiceName): Promise<void> {
  const { left } = unfinished[service] ?? {};
  if (left) await until(async () => (await copies.query(service, left)).length === 0, { timeoutMs: 120_000 });
}

export async function missing({ objects }: RestoreSystem, before: string[]): Promise<string[]> {
  const now = new Set(await objects());
  return before.filter((key) => !now.has(key)).map((key) => `${key} is gone`);
}

/** A new caller gets an answer, whatever the restored databases know of the old ones. */
export async function isServed(): Promise<string[]> {
  const caller = await Caller.create();
  const answer = await caller.detect(form(jpeg(await example('street.jpg')), scene('person_vehicle')));
  return answer.status === 201 ? [] : [`an image call got ${answer.status}: ${answer.text}`];
}

/** Those that remove objects say that they were set back. */
export async function isTold(system: RestoreSystem, service: Sweeper): Promise<string[]> {
  return (await isRestored(system, service))
    ? []
    : [`vision_bucket_sweeps_off does not say that ${sweepers[service].objects} were restored`];
}

export async function isRestored(system: RestoreSystem, service: Sweeper): Promise<boolean> {
  const samples = await system.metrics(service);
  const off = samples.find(
    ({ name, labels }) =>
      name === 'vision_bucket_sweeps_off' &&
      labels['objects'] === sweepers[service].objects &&
      labels['reason'] === 'restored',
  );
  return off?.value === 1;
}
