import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { frameProduced, jobEnded } from '@vision/contracts/frame-events';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '@vision/kafka/kafka';
import { createProducer } from '@vision/kafka/producer';
import type { ScriptedBackend, ScriptedJob } from '@vision/shared/testing/scripted-backend';

export interface Player {
  /** Frames the broker acknowledged, by job. */
  acknowledged: ReadonlyMap<string, number>;
  stop: () => Promise<void>;
}

const PERIOD_MS = 200;
const FILE_FRAMES = 20;

/** Publishes what the scripted jobs "see": a frame every 200 ms, until the job ends or has shown twenty of a file. */
export function startPlayer(backend: ScriptedBackend, brokers: string[]): Player {
  const kafka = createKafka({ brokers, clientId: 'scripted-backend', logger: createLogger('backend', 'silent') });
  const producer = createProducer(kafka);
  const acknowledged = new Map<string, number>();
  const ended = new Set<string>();
  const over = new AbortController();
  const play = async (job: ScriptedJob) => {
    const seq = acknowledged.get(job.job_id) ?? 0;
    const isFileEnd = job.request.source.kind === 'object' && seq >= FILE_FRAMES;
    if (isFileEnd) backend.end(job.job_id, 'succeeded');
    const event = job.status === 'running' ? frameOf(job, seq) : endOf(job, seq);
    await producer.publish([{ ...event, id: randomUUID(), key: job.job_id, source: 'inference', time: new Date() }]);
    if (event.type === jobEnded.type) ended.add(job.job_id);
    else acknowledged.set(job.job_id, (job.frames_published = seq + 1));
  };
  const loop = (async () => {
    while (!over.signal.aborted) {
      const live = [...backend.jobs.values()].filter(({ job_id }) => !ended.has(job_id));
      await Promise.all(live.map((job) => play(job).catch(() => undefined)));
      await delay(PERIOD_MS);
    }
  })();
  return {
    acknowledged,
    stop: async () => {
      over.abort();
      await loop;
      await producer.stop();
    },
  };
}

function frameOf(job: ScriptedJob, seq: number) {
  const objects = [
    {
      label: 'person',
      score: 0.9,
      track_id: 'a1-1',
      bbox: { format: 'cxcywh_normalized' as const, cx: 0.5, cy: 0.5, width: 0.1, height: 0.1 },
    },
  ];
  const data = {
    job_id: job.job_id,
    attempt: job.attempt,
    seq,
    frame_time_ms: seq * PERIOD_MS,
    image: { width: 64, height: 64 },
    objects,
  };
  return { topic: frameProduced.topic, type: frameProduced.type, data };
}

function endOf(job: ScriptedJob, seq: number) {
  const status = job.status === 'failed' || job.status === 'succeeded' ? job.status : ('stopped' as const);
  const frames = seq === 0 ? { count: 0 } : { count: seq, first_seq: 0, last_seq: seq - 1 };
  return {
    topic: jobEnded.topic,
    type: jobEnded.type,
    data: {
      job_id: job.job_id,
      attempt: job.attempt,
      status,
      frames_published: seq,
      attempt_frames: frames,
    },
  };
}
