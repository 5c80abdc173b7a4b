import { setTimeout as delay } from 'node:timers/promises';
import type { ScriptedBackend, SubmitMode } from '@vision/shared/testing/scripted-backend';
import { aMoment } from './fault.ts';
import type { Fault } from './fault.ts';

const submitModes: SubmitMode[] = [
  'accept_and_drop_reply',
  'accept_late',
  'accept_and_say_500',
  'accept_and_say_garbage',
  'refuse',
  'no_capacity',
  'drop',
  'hang',
];

/** Answers to submits; counts when somebody submitted meanwhile. */
const submit = (mode: SubmitMode): Fault => ({
  name: `scripted backend: ${mode.replaceAll('_', ' ')}`,
  holds: ['submits'],
  strike: async ({ world: { scripted }, random }) => {
    const before = scripted.submits.length;
    scripted.onSubmit = () => mode;
    await delay(aMoment(random) + 1_000);
    scripted.onSubmit = () => 'accept';
    return scripted.submits.length > before;
  },
});

const detect = (mode: ReturnType<ScriptedBackend['onDetect']>): Fault => ({
  name: `scripted backend: detect ${mode}`,
  holds: ['detections'],
  strike: async ({ world: { scripted }, random }) => {
    let asked = 0;
    scripted.onDetect = () => {
      asked += 1;
      return mode;
    };
    await delay(aMoment(random) + 1_000);
    scripted.onDetect = () => 'ok';
    return asked > 0;
  },
});

/** Some jobs are gone for good, those that have run longest. */
const forget = (title: string, most: number): Fault => ({
  name: `scripted backend: ${title}`,
  holds: ['jobs'],
  strike: async ({ world: { scripted, forgotten } }) => {
    const running = [...scripted.jobs.values()].filter(({ status }) => status === 'running').slice(0, most);
    for (const { job_id } of running) {
      forgotten.add(job_id);
      scripted.jobs.delete(job_id);
    }
    return running.length > 0;
  },
});

const FEW = { stream: 1, object: 1 };

/** Create requests of subjects with unequal limits wait for the next free slot. */
const fewSlots: Fault = {
  name: 'scripted backend: one slot is free at a time',
  holds: ['capacity'],
  strike: async ({ world: { scripted }, random }) => {
    const usual = scripted.capacity;
    let asked = 0;
    scripted.capacity = () => {
      asked += 1;
      return { places: FEW, ...usual?.(), free: FEW };
    };
    await delay(aMoment(random) + 1_000);
    scripted.capacity = usual;
    return asked > 0;
  },
};

export const backendFaults: Fault[] = [
  fewSlots,
  ...submitModes.map(submit),
  forget('a job vanishes', 1),
  forget('restored, knows nothing', Infinity),
  detect('overloaded'),
  detect('drop'),
];
