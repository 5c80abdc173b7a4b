import type { Consumer } from 'kafkajs';
import type { Logger } from '@vision/shared/logger';
import { untraced } from '@vision/shared/telemetry/trace-context';
import { positionKey } from './positions.ts';

/** Offsets are committed together at most this often: the rows in the database are what counts (ADR 28). */
const TOGETHER_MS = 1_000;

export interface OffsetCommits {
  /** To be committed soon, in place of an earlier one of the partition. */
  note: (topic: string, partition: number, offset: bigint) => void;
  /** Commits what is noted, and from now on everything at once. */
  finish: () => Promise<void>;
}

/**
 * Gathers the offsets that a group commits for tools. What is lost with a process, or when the group gives its
 * partitions to others, is read again by their next member, which finds it behind the row.
 */
export function gatherCommits(consumer: Consumer, logger: Logger): OffsetCommits {
  const noted = new Map<string, { topic: string; partition: number; offset: string }>();
  let timer: NodeJS.Timeout | undefined;
  let isFinishing = false;
  const commit = async () => {
    clearTimeout(timer);
    timer = undefined;
    const offsets = [...noted.values()];
    noted.clear();
    if (offsets.length === 0) return;
    try {
      await consumer.commitOffsets(offsets);
    } catch (error) {
      // Whether this process is still a member its heartbeats tell.
      logger.debug({ err: error, offsets }, 'offsets could not be committed');
    }
  };
  // The group gave out its partitions anew: what was not committed yet is not ours to commit.
  const forget = () => noted.clear();
  consumer.on('consumer.group_join', forget);
  consumer.on('consumer.crash', forget);
  return {
    note: (topic, partition, offset) => {
      noted.set(positionKey({ topic, partition }), { topic, partition, offset: String(offset) });
      if (isFinishing) void commit();
      else timer ??= untraced(() => setTimeout(() => void commit(), TOGETHER_MS).unref());
    },
    finish: async () => {
      isFinishing = true;
      await commit();
    },
  };
}
