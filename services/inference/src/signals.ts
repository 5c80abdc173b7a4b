import type { Logger } from '@vision/shared/logger';
import { meter } from '@vision/shared/telemetry';

export type Signals = ReturnType<typeof createSignals>;

export function createSignals(logger: Logger) {
  const images = meter('inference').createCounter('vision.inference.images', {
    description: 'Pictures by scene and outcome',
  });
  const duration = meter('inference').createHistogram('vision.inference.image.duration', {
    unit: 's',
    description: 'Waiting, decoding and detecting of one picture',
    advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
  });
  const rejected = meter('inference').createCounter('vision.inference.saturated', {
    description: 'Pictures turned away because every place was taken',
  });
  return {
    imageDetected: ({ scene, outcome, durationMs }: { scene: string; outcome: string; durationMs: number }) => {
      images.add(1, { scene, outcome });
      duration.record(durationMs / 1000, { scene });
    },
    imageTurnedAway: () => rejected.add(1),
    detectorFailed: (facts: { scene: string; reason: string; cause: unknown }) => {
      logger.error(
        { scene_code: facts.scene, reason: facts.reason, err: facts.cause },
        'a picture could not be detected',
      );
    },
  };
}
