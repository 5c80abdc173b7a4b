import { consumerGroups, groupFeatures } from '@vision/contracts/topics';
import { createFeatureQuery } from '@vision/kafka/group-features';
import type { KafkaClient } from '@vision/kafka/kafka';
import { atMost } from '@vision/shared/async/at-most';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import type { Deps } from './deps.ts';

/** Whether all members of the group that stores frames read segments. */
export interface SegmentReaders {
  areReady: () => boolean;
  poller: Poller;
}

/** An answer is valid until the next but one is due. */
const ASK_MS = 2_000;
const VALID_MS = 3 * ASK_MS;
/** An unanswered query does not hold up the stop of a worker. */
const STOP_MS = 1_000;
/** The group that stores frames. */
const [{ group: READERS }] = consumerGroups.results;

/**
 * Polls the group that stores frames, because replicas of a release that ignores segments may join it at any time.
 * Without an answer no segments are written.
 */
export function createSegmentReaders(
  kafka: KafkaClient,
  { logger, signals }: Pick<Deps, 'logger' | 'signals'>,
  now = () => performance.now(),
): SegmentReaders {
  const query = createFeatureQuery(kafka, READERS, groupFeatures.frameSegments);
  let answer = { areReady: false, validUntilMs: -Infinity };
  let announced = false;
  const areReady = () => answer.areReady && now() < answer.validUntilMs;
  const announce = () => {
    if (areReady() === announced) return;
    announced = areReady();
    signals.segmentReadersChanged(announced);
  };
  const run = async () => {
    const askedMs = now();
    try {
      const isRead = await query.isReadByAll();
      answer = { areReady: isRead, validUntilMs: askedMs + VALID_MS };
    } finally {
      // Without an answer the last one expires too.
      announce();
    }
    return 0;
  };
  const poller = createPoller({ name: 'segment-readers', intervalMs: ASK_MS, run, logger });
  const stop = async () => {
    await atMost(STOP_MS, poller.stop());
    await atMost(STOP_MS, query.close());
  };
  return { areReady, poller: { ...poller, stop } };
}
