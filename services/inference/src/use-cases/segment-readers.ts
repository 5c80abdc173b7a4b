import { consumerGroups, groupFeatures } from '@vision/contracts/topics';
import { createFeatureQuery } from '@vision/kafka/group-features';
import type { KafkaClient } from '@vision/kafka/kafka';
import { atMost } from '@vision/shared/async/at-most';
import { createPoller } from '@vision/shared/async/poller';
import type { Poller } from '@vision/shared/async/poller';
import type { Deps } from './deps.ts';

/** Whether everybody who stores frames reads segments of them. */
export interface SegmentReaders {
  areReady: () => boolean;
  poller: Poller;
}

/** An answer counts until the next but one should have come. */
const ASK_MS = 2_000;
const VALID_MS = 3 * ASK_MS;
/** A question that nobody answers does not hold up the stop of a worker. */
const STOP_MS = 1_000;
/** Those who store frames. */
const [{ group: READERS }] = consumerGroups.results;

/**
 * Asks the group that stores frames again and again, as replicas of a release that passes over segments may join it at
 * any time. Without an answer they are not written.
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
      // Without an answer the last one ends too.
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
