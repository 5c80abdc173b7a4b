import { buckets } from './buckets.ts';
import { counter, gauge, histogram } from './metric.ts';

/** Metrics of code that several services share. Which services have them stands in `metric-groups.ts`. */

export const processMetrics = {
  buildInfo: gauge('vision.build.info', {
    meaning: '1; its labels tell what runs here',
    labels: {
      version: 'of this system',
      commit: 'its first 12 digits, and `-modified` where files differed from it; `none` in a checkout',
      node: 'version of Node.js',
    },
  }),
  heapLimit: gauge('vision.process.heap.limit', {
    unit: 'By',
    meaning: 'What V8 may take; the process ends when its heap needs more',
  }),
  memory: gauge('vision.process.memory', {
    unit: 'By',
    meaning:
      'Memory of the container, decoders included, and its limit; of this process and the machine where the container has none. Near the limit is an alarm',
    labels: { kind: ['used', 'limit'] },
  }),
  tmp: gauge('vision.process.tmp', {
    unit: 'By',
    meaning: 'File system of temporary files: bytes in use, and its size. A full one is an alarm',
    labels: { kind: ['used', 'limit'] },
  }),
};

const upstream = 'whom we asked: a service, `inference`, `triton`, `s3`, `sts`, `oauth`, `postgres`, `redis`, `kafka`';
const operation = 'what was asked; a word of the code';

export const upstreamMetrics = {
  duration: histogram('vision.upstream.duration', {
    meaning: 'Calls to another service, a store or the inference backend; its count is the number of calls',
    labels: {
      upstream,
      operation,
      outcome: '`ok`, or a word of `error.type`, `client_left`, `client_slow` or `canceled`',
    },
    buckets: buckets.call,
  }),
  limit: gauge('vision.upstream.limit', {
    unit: 's',
    meaning: 'The time limit in force for calls of this kind',
    labels: { upstream, operation },
  }),
};

const breaker = { name: 'the call that it guards, as `inference.submit`' };

export const breakerMetrics = {
  calls: counter('circuit_breaker.calls', {
    meaning: 'Calls by what they said about the other side; `neutral` says nothing, `rejected` was not made',
    labels: { ...breaker, outcome: ['ok', 'fault', 'neutral', 'rejected'] },
  }),
  opened: counter('circuit_breaker.opened', { meaning: 'Times the breaker opened', labels: breaker }),
  state: gauge('circuit_breaker.state', { meaning: '0 closed, 1 half-open, 2 open', labels: breaker }),
};

export const accessMetrics = {
  refusals: counter('vision.service.calls.refused', {
    meaning: 'Calls between services that were refused; caller and operation of those that are `forbidden`',
    labels: {
      reason: '`missing`, `forbidden`, or what is wrong with the token',
      caller: 'a service, or empty',
      operation: 'one of ours, or empty',
    },
  }),
};

export const auditMetrics = {
  differences: gauge('vision.audit.differences', {
    meaning:
      'Things that must agree and have not for a minute. Every replica tells the same. Anything but 0 is an alarm',
    labels: { kind: 'the audit' },
  }),
};

/** Background loops that do a step for each of many tasks. */
const taskLoops = [
  'compaction',
  'deletions',
  'fold',
  'overdue_ends',
  'readability',
  'reconciler',
  'recovery',
  'stored_frames',
] as const;
export type TaskLoopName = (typeof taskLoops)[number];

const loop = 'name of the loop; `poller` in its log lines';

export const loopMetrics = {
  lastSuccess: gauge('vision.loop.last_success', {
    unit: 's',
    meaning: 'Time since the last round of a background loop of this process that succeeded, or since its start',
    labels: { loop },
  }),
  pause: gauge('vision.loop.pause', {
    unit: 's',
    meaning: 'Pause of a background loop before its next round; short while rounds fail',
    labels: { loop },
  }),
};

export const taskLoopMetrics = {
  poisonedTasks: gauge('vision.loop.poisoned_tasks', {
    unit: '{task}',
    meaning:
      'Tasks whose step in a background loop of this process failed, for another reason than an outage, and has not ' +
      'succeeded since. An alarm',
    labels: { loop: taskLoops },
  }),
};

export const sweepMetrics = {
  objects: counter('vision.sweep.objects', {
    meaning: 'Stored objects that were listed to find those that belong to nothing: the `new` ones, or seldom `all`',
    labels: { look: ['new', 'all'] },
  }),
  refused: counter('vision.sweep.refused', {
    meaning:
      'Stored objects that belong to nothing and stay, because the database does not know more than 20 and more than a ' +
      'fifth of the page that lists them. An alarm',
  }),
  candidates: gauge('vision.sweep.candidates', {
    unit: '{object}',
    meaning: 'Stored objects that belong to nothing and are removed SWEEP_GRACE_MS after that was seen; told by sweeps',
    labels: { sweep: '`videos`, `pictures` or `track-snapshots`' },
  }),
};

export const bucketMetrics = {
  sweepsOff: gauge('vision.bucket.sweeps_off', {
    meaning:
      '1 while objects stay that belong to nothing: the database is an older copy (`restored`), or does not know what ' +
      'a bucket without marks holds (`unknown`). 1 for a day is an alarm',
    labels: { objects: '`videos`, `pictures`, `segments` or `track-snapshots`', reason: ['unknown', 'restored'] },
  }),
};

export const outboxMetrics = {
  oldestAge: gauge('vision.outbox.oldest_age', {
    unit: 's',
    meaning: 'Age of the oldest event that waits to be published; standby relays read it every ten seconds',
  }),
  waiting: gauge('vision.outbox.waiting', {
    unit: '{event}',
    meaning: 'Events seen waiting, 200 at most; told by the active relay only',
  }),
};

const group = { group: 'the consumer group' };

export const consumerMetrics = {
  events: counter('vision.consumer.events', {
    meaning: 'Settled events',
    labels: {
      ...group,
      type: 'one that the group handles, `other` or `none`',
      outcome: ['handled', 'skipped', 'dead-lettered'],
    },
  }),
  eventAge: histogram('vision.consumer.event_age', {
    meaning: 'From the fact to its handling',
    labels: { ...group, type: 'as above' },
    buckets: buckets.lag,
  }),
  retries: counter('vision.consumer.retries', {
    meaning: 'Repeated deliveries',
    labels: { ...group, cause: ['outage', 'failure'] },
  }),
  blocked: counter('vision.consumer.blocked', {
    meaning:
      'Failures after the last try of an event that must not become a dead letter: it blocks its partition. An alarm',
    labels: group,
  }),
  deadLetters: counter('vision.consumer.dead_letters', {
    meaning: 'Records that became dead letters. An alarm',
    labels: group,
  }),
  crashes: counter('vision.consumer.crashes', { meaning: 'Crashes of the consumer, restarted or not', labels: group }),
  rewinds: counter('vision.consumer.rewinds', {
    meaning: 'Times the database had lost commits and their records were read again. An alarm',
    labels: group,
  }),
  gaps: counter('vision.consumer.gaps', {
    meaning:
      'Times records were gone before they were handled, a topic was made anew, or brokers lost records. An alarm',
    labels: { ...group, reason: ['removed', 'log_restarted', 'truncated'] },
  }),
  joins: counter('vision.consumer.joins', { meaning: 'Times the group gave out its partitions', labels: group }),
  lag: gauge('vision.consumer.lag', {
    unit: '{message}',
    meaning: 'Records behind the end after the last batch, of the partitions that this replica holds',
    labels: { ...group, topic: 'one of ours', partition: 'its number' },
  }),
  partitions: gauge('vision.consumer.partitions', {
    meaning: 'Partitions that this replica holds',
    labels: { ...group, topic: 'one of ours' },
  }),
};

export const kafkaMetrics = {
  offsetResets: counter('vision.consumer.offset_resets', {
    meaning: 'Positions that were out of range: records were skipped or are read again. An alarm',
  }),
};

export const standbyMetrics = {
  synchronous: gauge('vision.db.synchronous', {
    meaning:
      '1 when commits waited for a synchronous standby at the start of this process, else 0; absent with DATABASE_STANDBY=managed',
  }),
};

export const poolMetrics = {
  connections: gauge('vision.db.pool.connections', {
    meaning: 'Connections to the database that are used or free, and the work that waits for one',
    labels: { state: ['used', 'free', 'waiting'] },
  }),
  limit: gauge('vision.db.pool.limit', { meaning: 'Connections to the database at most' }),
  wait: histogram('vision.db.pool.wait', {
    meaning: 'How long work waited for a connection to the database, those included that got none',
    buckets: buckets.pool,
  }),
};
