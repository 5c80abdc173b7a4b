import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { topics } from '@vision/contracts/topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { freePort } from '@vision/shared/testing/ports';
import { startScriptedBackend } from '@vision/shared/testing/scripted-backend';
import type { ScriptedBackend } from '@vision/shared/testing/scripted-backend';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { migrations } from '../../services/tasks/src/db/migrations/list.ts';
import { scratchDatabase } from '../scratch-database.ts';
import type { ScratchDatabase } from '../scratch-database.ts';
import { environmentOf } from './environment.ts';

/** The tasks service as a process, on a database and topics of its own, and a backend that follows a script. */
export interface TasksWorld {
  database: ScratchDatabase;
  kafka: TestKafka;
  backend: ScriptedBackend;
  service: RunningProcess;
  close: () => Promise<void>;
}

const FRAMES_A_SECOND = 5;

/** Starts the service with tasks that run already, and waits until it has asked about each of them. */
export async function startTasksWorld(tasks: number): Promise<TasksWorld> {
  const database = await scratchDatabase(migrations, 2);
  const kafka = await testKafka({ topics: [topics.tasks, topics.images, topics.results] });
  const backend = await startScriptedBackend();
  backend.tellsAttempt = true;
  await insertRunning(database, backend, tasks);
  const healthPort = await freePort();
  const service = startProcess('tasks', {
    ...(await environmentOf('tasks', { database, kafka, healthPort })),
    STREAM_URL_KEY: Buffer.alloc(32, 7).toString('base64'),
    // Nothing is created, so nobody reserves.
    QUOTA_URL: 'http://127.0.0.1:9',
    INFERENCE_URL: backend.url,
    SCENES_FILE: fileURLToPath(new URL('../../config/scenes.json', import.meta.url)),
  });
  await untilReady(service, healthPort);
  const unasked = () => database.db('tasks').whereNull('job_seen_at').limit(1).pluck<string[]>('task_id');
  await until(async () => (await unasked()).length === 0, { timeoutMs: 300_000, intervalMs: 1_000 });
  return {
    database,
    kafka,
    backend,
    service,
    close: async () => {
      await service.stop();
      await backend.close();
      await kafka.close();
      await database.drop();
    },
  };
}

/** Tasks as they are some time after their creation, and their jobs, which publish frames. */
async function insertRunning({ db }: ScratchDatabase, backend: ScriptedBackend, tasks: number): Promise<void> {
  const ids = Array.from({ length: tasks }, () => randomUUID());
  await db.raw(
    `insert into tasks (task_id, subject, kind, request_id, request_key, scene_code, status, version, attempt,
                        lower_bound, default_min_score, reservation_id, check_at, job_status,
                        job_frames_published, job_attempt, created_at, updated_at, result_expires_at)
     select id, 'subject-' || n % 100, 'stream', id::text, id::text, 'person_vehicle', 'running', 4, 1,
            0.3, 0.8, id || '/1', now(), 'running', 0, 1, now(), now(), now() + interval '90 days'
       from unnest(:ids::uuid[]) with ordinality as made (id, n)`,
    { ids },
  );
  await db.raw('analyze tasks');
  const begun = performance.now();
  for (const id of ids) {
    backend.jobs.set(id, {
      job_id: id,
      status: 'running',
      attempt: 1,
      get frames_published() {
        return Math.floor(((performance.now() - begun) / 1000) * FRAMES_A_SECOND);
      },
      request: {
        job_id: id,
        scene_code: 'person_vehicle',
        lower_bound: 0.3,
        source: { kind: 'stream', url: 'rtsp://camera' },
      },
    });
  }
}
