import type { Caller } from '../../support/system.ts';
import { form, problemOf, scene } from '../../support/system.ts';
import type { Answer } from '../../support/system.ts';
import { video } from '../../support/video.ts';
import type { Asked } from '../asked.ts';
import type { Scenario } from '../scenario.ts';
import { limits } from '../settings.ts';
import { paddedVideo } from '../videos.ts';

/** A capacity question gets a third of the limit; the submission gets what the questions left. */
const questionMs = limits.submitMs / 3;
const submission = (outcome: string) => ({
  service: 'tasks',
  upstream: 'inference',
  operation: 'submit',
  outcome,
  limitMs: { from: questionMs, to: limits.submitMs },
});

const create = async (caller: Caller) =>
  asked(await caller.createUpload(form(video(await paddedVideo(0)), scene('person_vehicle'))));

/** Creates of a task whose job the inference backend takes too long over, and the store before it. */
export const creates: readonly Scenario[] = [
  {
    name: 'connect',
    title: 'Inference takes no connection for a create request',
    broken: 'The process of the backend is frozen and its queue of connections is full. Nothing is submitted.',
    expected: {
      service: 'tasks',
      upstream: 'inference',
      operation: 'capacity',
      outcome: 'connect_timeout',
      limitMs: questionMs,
    },
    run: ({ backend }, caller) => backend.whileUnreachable(() => create(caller)),
  },
  {
    name: 'headers',
    title: 'Inference does not answer a create request',
    broken: 'The backend tells its capacity, takes the job and sends nothing.',
    expected: submission('headers_timeout'),
    run: async ({ backend }, caller) => {
      await backend.isLateWith('headers');
      return create(caller);
    },
  },
  {
    name: 'body',
    title: 'Inference stops in the middle of its answer to a create request',
    broken:
      'The backend tells its capacity, takes the job, and sends the head of its answer and the first bytes of the body.',
    expected: submission('body_timeout'),
    run: async ({ backend }, caller) => {
      await backend.isLateWith('body');
      return create(caller);
    },
  },
  {
    name: 'store',
    title: 'The object store stalls in the middle of an upload',
    broken: 'After 2 MB of a video of 8 MB nothing reaches the store any more.',
    expected: { service: 'tasks', upstream: 's3', outcome: 'idle_timeout', limitMs: limits.storeIdleMs },
    run: async ({ store }, caller) => {
      const body = form(scene('person_vehicle'), video(await paddedVideo(8_000_000)));
      store.set({ kind: 'stall_after', bytes: 2_000_000 });
      try {
        return asked(await caller.createUpload(body));
      } finally {
        store.set({ kind: 'none' });
      }
    },
  },
];

/** What a client sees of its answer, with the trace that the answer names. */
export function asked(answer: Answer): Asked {
  const { code, details } = problemOf(answer) as Partial<ReturnType<typeof problemOf>>;
  const said = code === undefined ? `status ${String(answer.body['status'])}` : `${code} (${details?.reason ?? ''})`;
  return { traceId: answer.headers.get('x-trace-id') ?? '', seen: `${answer.status}, ${said}` };
}
