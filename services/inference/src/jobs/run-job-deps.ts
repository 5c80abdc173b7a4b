import type { EventProducer } from '@vision/shared/messaging/producer';
import type { SecretBox } from '@vision/shared/secret-box';
import type { VideoFiles } from '../clients/video-files.ts';
import type { ProgressUpdate } from '../db/jobs.ts';
import type { Detectors } from '../detectors/start-detectors.ts';
import type { JobRecord } from '../domain/job.ts';
import type { LiveSettings } from '../decoding/live-frames.ts';
import type { OpenLiveDeps } from '../inputs/open-live-input.ts';
import type { JobSignals } from './job-signals.ts';

export interface RunJobDeps {
  detectors: Pick<Detectors, 'find'>;
  files: VideoFiles;
  box: SecretBox;
  producer: EventProducer;
  openLive: OpenLiveDeps;
  live: LiveSettings;
  /** Frames of one file that are detected at once. */
  detectAtOnce: number;
  fileNoFrameMs: number;
  now: () => number;
  signals: JobSignals;
  /** Keeps how far the job is; must not fail when the database is away. */
  saveProgress: (job: JobRecord, progress: ProgressUpdate) => Promise<void>;
}
