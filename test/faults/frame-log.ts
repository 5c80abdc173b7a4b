import { randomUUID } from 'node:crypto';
import { frameProduced, jobEnded, segmentProduced } from '@vision/contracts/frame-events';
import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';
import { decodeFrameSegment } from '@vision/contracts/segments/frame-segment';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '@vision/kafka/kafka';
import { objectsDigest } from './objects-digest.ts';

/** A record of the topic of frames, in the order in which the broker took them. */
export interface LoggedFrame {
  jobId: string;
  attempt: number;
  seq: number;
  timeMs: number;
  /** What was seen in it; compared only. */
  objects: string;
  /** Whether it came in a record of many. */
  isOfSegment: boolean;
  /** When the broker took it. */
  at: number;
  partition: number;
  offset: number;
}

export type LoggedEnd = Pick<LoggedFrame, 'jobId' | 'attempt' | 'at' | 'partition' | 'offset'>;

/** What the broker holds: whatever it acknowledged is in it. */
export interface FrameLog {
  frames: Map<string, LoggedFrame[]>;
  ends: Map<string, LoggedEnd[]>;
}

/** Reads the whole topic of frames, to its end. */
export async function readFrameLog(brokers: string[]): Promise<FrameLog> {
  const log: FrameLog = { frames: new Map(), ends: new Map() };
  const { kafka } = createKafka({ brokers, clientId: 'frame-log', logger: createLogger('faults', 'silent') });
  const admin = kafka.admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(frameProduced.topic);
  await admin.disconnect();
  const left = new Map(
    offsets.filter(({ low, high }) => low !== high).map(({ partition, high }) => [partition, Number(high)]),
  );
  if (left.size === 0) return log;
  const consumer = kafka.consumer({ groupId: `frame-log-${randomUUID()}`, maxWaitTimeInMs: 100 });
  const { promise: isComplete, resolve: complete } = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topics: [frameProduced.topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    partitionsConsumedConcurrently: 4,
    eachMessage: async ({ partition, message }) => {
      const offset = Number(message.offset);
      const type = message.headers?.['ce_type']?.toString();
      const value = message.value ?? Buffer.from('null');
      const at = Number(message.timestamp);
      const place = { partition, offset, at, isOfSegment: type === segmentProduced.type };
      for (const frame of framesIn(type, value)) note(log.frames, frameOf(frame, place));
      if (type === jobEnded.type) note(log.ends, endOf(JSON.parse(value.toString()) as JobEndedData, place));
      if (offset + 1 >= (left.get(partition) ?? Infinity)) left.delete(partition);
      if (left.size === 0) complete();
    },
  });
  await isComplete;
  await consumer.disconnect();
  for (const list of log.frames.values()) inBrokerOrder(list);
  return log;
}

/** Both together; what one has lost the other may have. */
export function mergeLogs(one: FrameLog, other: FrameLog): FrameLog {
  const frames = new Map<string, LoggedFrame[]>();
  for (const list of [...one.frames.values(), ...other.frames.values()]) for (const frame of list) note(frames, frame);
  for (const [jobId, list] of frames) {
    const known = new Map(list.map((frame) => [`${frame.partition}/${frame.offset}/${frame.seq}`, frame]));
    frames.set(jobId, inBrokerOrder([...known.values()]));
  }
  return { frames, ends: new Map([...one.ends, ...other.ends]) };
}

const inBrokerOrder = <T extends LoggedEnd>(list: T[]): T[] =>
  list.sort((a, b) => a.at - b.at || a.partition - b.partition || a.offset - b.offset);

function framesIn(type: string | undefined, value: Buffer): FrameData[] {
  if (type === segmentProduced.type) return decodeFrameSegment(value).frames;
  return type === frameProduced.type ? [JSON.parse(value.toString()) as FrameData] : [];
}

type Place = Pick<LoggedFrame, 'partition' | 'offset' | 'at' | 'isOfSegment'>;

const frameOf = ({ job_id, attempt, seq, frame_time_ms, objects }: FrameData, place: Place): LoggedFrame => ({
  jobId: job_id,
  attempt,
  seq,
  timeMs: frame_time_ms,
  objects: objectsDigest(objects),
  ...place,
});

const endOf = ({ job_id, attempt }: JobEndedData, { at, partition, offset }: Place): LoggedEnd => ({
  jobId: job_id,
  attempt,
  at,
  partition,
  offset,
});

function note<T extends { jobId: string }>(lists: Map<string, T[]>, item: T): void {
  const list = lists.get(item.jobId);
  if (list) list.push(item);
  else lists.set(item.jobId, [item]);
}

/** What has to be readable of a job, and what may be. */
export interface Expected {
  /** By number: taken by the broker while the fence of their attempt held. */
  frames: Map<number, LoggedFrame>;
  /** Numbers of an attempt that had lost the job when the broker took them. */
  fenced: Set<number>;
  /** Numbers under which two different frames were taken. */
  reused: number[];
}

/**
 * The fence of an attempt holds until the broker has a frame or the end mark of a newer one. What a worker was sending
 * when it was frozen is sent when it wakes.
 */
export function expectedOf(frames: readonly LoggedFrame[], ends: readonly LoggedEnd[] = []): Expected {
  const expected: Expected = { frames: new Map(), fenced: new Set(), reused: [] };
  let newest = -1;
  for (const record of inBrokerOrder<LoggedFrame | LoggedEnd>([...frames, ...ends])) {
    if (record.attempt < newest) {
      if ('seq' in record) expected.fenced.add(record.seq);
      continue;
    }
    newest = record.attempt;
    if (!('seq' in record)) continue;
    const frame = record;
    const first = expected.frames.get(frame.seq);
    if (!first) expected.frames.set(frame.seq, frame);
    else if (first.timeMs !== frame.timeMs) expected.reused.push(frame.seq);
  }
  return expected;
}
