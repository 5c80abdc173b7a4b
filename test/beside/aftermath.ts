import { join } from 'node:path';
import { dlqTopic, topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '@vision/kafka/kafka';
import { until } from '@vision/shared/testing/until';
import { errorLines } from '../faults/alarms.ts';
import { auditBreaches } from '../faults/invariants/audits.ts';
import { readFrameLog } from '../faults/frame-log.ts';
import type { LoggedFrame } from '../faults/frame-log.ts';
import { fatalLines } from '../faults/invariants/checks.ts';
import { openStores } from '../faults/stores.ts';
import { admin } from '../support/system.ts';
import type { Findings } from './findings.ts';
import type { World } from './world.ts';

/** The slowest audit has looked at everything by then. */
const PATIENCE_MS = 150_000;

/** What operators see when all is over: nothing waits, differs or was put aside, and nobody called for help. */
export async function checkAftermath({ breach }: Findings, world: World): Promise<void> {
  const { infrastructure, settings } = world;
  const { objectStore: s3, redisUrl, databaseUrl } = infrastructure;
  const stores = openStores({ s3, redisUrl, database: { url: () => databaseUrl } });
  try {
    for (const sentence of await lasting(async () => [...(await waiting()), ...(await auditBreaches({ stores }))])) {
      breach(sentence);
    }
  } finally {
    await stores.close();
  }
  const verified = await admin('POST', '/admin/v1/quota/verify');
  if ((verified.body['differences'] as unknown[] | undefined)?.length !== 0) breach(`quota verify: ${verified.text}`);
  for (const sentence of await deadLetters(infrastructure.brokers.split(','))) breach(sentence);
  const logs = join(settings.localDir, 'log');
  for (const line of errorLines(logs)) breach(`an error line of ${String(line['service'])}: ${JSON.stringify(line)}`);
  for (const line of fatalLines(logs)) breach(line);
}

/** Else a stage in which workers may publish segments has shown nothing; the broker says when it took a record. */
export async function checkPublishing({ breach }: Findings, world: World, stage: string, since: number): Promise<void> {
  const isNew = ({ at, isOfSegment }: LoggedFrame) => isOfSegment && at >= since;
  const missing = async () => {
    const { frames } = await readFrameLog(world.infrastructure.brokers.split(','));
    return [...frames.values()].flat().some(isNew) ? [] : [`${stage}: no worker published frames in segments`];
  };
  // The stream of all stages goes on.
  for (const sentence of await lasting(missing)) breach(sentence);
}

/** Frames of all stages lie in the object store, whichever release stored them. */
export async function checkSegments({ breach }: Findings, world: World): Promise<void> {
  const { objectStore: s3, redisUrl, databaseUrl } = world.infrastructure;
  const stores = openStores({ s3, redisUrl, database: { url: () => databaseUrl } });
  const notMoved = async () => {
    const left = await stores.query<{ task_id: string; rows: number; hot: number; moved: number }>('results', FRAMES);
    const total = left.reduce((sum, { moved }) => sum + moved, 0);
    const late = left.filter(({ rows, hot }) => rows + hot > 0).map((task) => JSON.stringify(task));
    return [...late, ...(total > 0 ? [] : ['no frame at all'])].map((what) => `not in the object store: ${what}`);
  };
  try {
    for (const sentence of await lasting(notMoved)) breach(sentence);
  } finally {
    await stores.close();
  }
}

/** Of each task, by the form that they have. */
const FRAMES = `
  select task_id,
         (select count(*)::int from frames where frames.task_id = ingests.task_id) as rows,
         (select coalesce(sum(frames), 0)::int from segments
           where segments.task_id = ingests.task_id and body is not null) as hot,
         (select coalesce(sum(frames), 0)::int from segments
           where segments.task_id = ingests.task_id and object_key is not null) as moved
    from ingests`;

/** A breach that goes away is none: audits and relays work on. */
async function lasting(check: () => Promise<string[]>): Promise<string[]> {
  let breaches: string[] = [];
  const held = async () => {
    breaches = await check();
    return breaches.length === 0;
  };
  await until(held, { timeoutMs: PATIENCE_MS, intervalMs: 1_000 }).catch((error: unknown) => {
    if (breaches.length === 0) breaches = [String(error)];
  });
  return breaches;
}

interface ProcessStatus {
  service: string;
  dependencies: { name: string; fault?: string }[];
  outbox?: { waiting: number };
  lag: { group: string; lag: number }[];
}

/** Events that are not published, records that are not handled, dependencies that are not well. */
async function waiting(): Promise<string[]> {
  const { status, text, body } = await admin('GET', '/admin/v1/status');
  if (status !== 200) return [`status: ${status} ${text}`];
  const { gateway, replicas } = body as unknown as {
    gateway: ProcessStatus;
    replicas: { service: string; fault?: string; status?: ProcessStatus }[];
  };
  const silent = replicas.flatMap(({ service, fault }) =>
    fault ? [`${service} does not tell its status: ${fault}`] : [],
  );
  const told = [gateway, ...replicas.flatMap((replica) => replica.status ?? [])];
  return [...silent, ...told.flatMap(faultsOf)];
}

const faultsOf = ({ service, dependencies, outbox, lag }: ProcessStatus): string[] => [
  ...dependencies.flatMap(({ name, fault }) => (fault ? [`${service} and ${name}: ${fault}`] : [])),
  ...((outbox?.waiting ?? 0) > 0 ? [`${service}: ${outbox?.waiting ?? 0} events wait to be published`] : []),
  ...lag.flatMap(({ group, lag: records }) => (records > 0 ? [`${group}: ${records} records wait`] : [])),
];

/** What one version wrote and the other could not read. */
async function deadLetters(brokers: string[]): Promise<string[]> {
  const client = createKafka({ brokers, clientId: 'beside', logger: createLogger('beside', 'silent') });
  const broker = client.kafka.admin();
  await broker.connect();
  try {
    const counts = Object.values(topics).map(async (topic) => {
      const ends = await broker.fetchTopicOffsets(client.nameOf(dlqTopic(topic)));
      const count = ends.reduce((sum, { high }) => sum + Number(high), 0);
      return count > 0 ? [`${count} records of ${topic} were put aside`] : [];
    });
    return (await Promise.all(counts)).flat();
  } finally {
    await broker.disconnect();
  }
}
