import type { Knex } from 'knex';
import { createApp } from '@vision/shared/http/app';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createLogger } from '@vision/shared/logger';
import { servicePublicKeysConfig } from '@vision/shared/service-keys';
import { testPublicKeys, testToken } from '@vision/shared/testing/service-keys';
import type { SegmentStore } from '../services/results/src/clients/segment-store.ts';
import { saveTaskView } from '../services/results/src/db/task-views.ts';
import { cursorCodec } from '../services/results/src/domain/cursor.ts';
import type { Progress } from '../services/results/src/domain/cursor.ts';
import { getResultsRoute } from '../services/results/src/http/get-results.ts';
import { createSignals } from '../services/results/src/signals.ts';
import { testSettings } from '../services/results/test/support.ts';

const TOKEN_MS = 10_000;
const KEY = 'bench-key-bench-key-bench-key-bench-key';

export interface ServedPages {
  /** Asks for a page of 500 frames behind what was read, over HTTP; returns its text. */
  page: (taskId: string, progress?: Progress) => Promise<string>;
  stop: () => Promise<void>;
}

/** The route of results alone, on a port of its own: token, task, cursor and filter as in the service. */
export async function servePages(db: Knex, store: SegmentStore): Promise<ServedPages> {
  const logger = createLogger('bench', 'silent');
  const cursors = cursorCodec([KEY]);
  const route = getResultsRoute({
    db,
    store,
    cursors,
    signals: createSignals(logger),
    taskOwners: { find: () => Promise.resolve(undefined), findKnown: () => Promise.resolve([]) },
    settings: testSettings,
    wakeFold: () => undefined,
  });
  const publicKeys = servicePublicKeysConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys);
  const access = createServiceAccess({ callee: 'results', publicKeys, logger });
  const server = createHttpServer(createApp({ routes: [route], ...access, logger }), { host: '127.0.0.1', port: 0 });
  const port = await server.start();
  // Tokens live for less time than the benchmark takes on a busy machine.
  let token = { text: '', at: -Infinity };
  const currentToken = async () => {
    if (performance.now() - token.at > TOKEN_MS)
      token = { text: await testToken('gateway', 'results', { subject: 'bench' }), at: performance.now() };
    return token.text;
  };
  return {
    page: async (taskId, progress) => {
      const cursor = progress ? cursors.encode(taskId, progress) : '';
      const url = `http://127.0.0.1:${port}/v1/vision/tasks/${taskId}/results?limit=500&cursor=${cursor}`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${await currentToken()}` } });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(text);
      return text;
    },
    stop: () => server.stop(100),
  };
}

/** Makes a task known, so that its frames can be asked for; its kind, too, where that matters. */
export async function showTask(db: Knex, taskId: string, kind?: 'upload'): Promise<void> {
  await saveTaskView(db, {
    task_id: taskId,
    version: 1,
    subject: 'bench',
    kind,
    status: 'running',
    lower_bound: 0.35,
    default_min_score: 0.8,
    result_expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
}
