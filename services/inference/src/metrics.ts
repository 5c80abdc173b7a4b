import { streamProbeProblems } from '@vision/contracts/inference';
import { buckets } from '@vision/shared/telemetry/buckets';
import { counter, gauge, histogram } from '@vision/shared/telemetry/metric';
import { videoCodecs, videoSizes } from './domain/decode-costs.ts';

const scene = 'its code; one of the scenes that are served';

/** Metrics of images. */
export const imageMetrics = {
  load: gauge('vision.inference.load', { meaning: 'Images that wait or are processed in this replica' }),
  places: gauge('vision.inference.places', {
    meaning: 'Maximum number of images in this replica; further ones are rejected',
  }),
  images: counter('vision.inference.images', {
    meaning: 'Images',
    labels: { scene, outcome: ['detected', 'refused', 'turned_away', 'unavailable'] },
  }),
  duration: histogram('vision.inference.image.duration', {
    meaning: 'Waiting, decoding and detecting of one image',
    labels: { scene },
    buckets: buckets.detect,
  }),
  saturated: counter('vision.inference.saturated', {
    meaning: 'Images rejected because every slot was taken',
  }),
  decodersLost: counter('vision.inference.picture_decoders_lost', {
    meaning: 'Processes ended by the image they decoded: it cost too much or broke them',
  }),
  decodersNotStarted: counter('vision.inference.decoders_not_started', {
    meaning: 'Decoders of images and videos that the system did not start: too many processes or files, or no memory',
  }),
  sandbox: gauge('vision.inference.sandbox', {
    meaning: '1 for the sandbox that decoders run in. `none` is an alarm: then only their resources are limited',
    labels: { wall: 'its kind' },
  }),
};

/** Metrics of video jobs. */
export const jobMetrics = {
  atWork: gauge('vision.jobs.at_work', { meaning: 'Video jobs that this replica runs' }),
  places: gauge('vision.jobs.places', { meaning: 'Video jobs that this replica runs at most' }),
  live: gauge('vision.jobs.live', {
    meaning: 'Live streams of this replica by the frames they get: all of them, or fewer because it is too slow',
    labels: { rate: ['full', 'behind'] },
  }),
  livePlaces: gauge('vision.jobs.live_places', {
    meaning: 'Live streams that this replica takes at most, as set or as measured',
  }),
  liveCost: gauge('vision.jobs.live_cost', {
    meaning: 'Cores that decoding and detecting a live stream takes in this replica, as measured',
  }),
  decodeCost: gauge('vision.jobs.decode_cost', {
    meaning: 'Cores that decoding a live stream takes in this replica, as measured, for the sources that were there',
    labels: { size: videoSizes, codec: videoCodecs },
  }),
  unowned: gauge('vision.jobs.unowned', {
    meaning: 'Jobs that no worker holds. Every replica tells the same: use `max`',
  }),
  parked: gauge('vision.jobs.parked', {
    meaning:
      'Live streams of tasks with `give_up_after_s` that have been unavailable for over ten minutes: no worker holds ' +
      'them and they take no slot. Every replica tells the same: use `max`',
  }),
  workDir: gauge('vision.inference.work_dir', {
    meaning: 'Space for copies of uploaded videos in WORK_DIR: bytes in use, and the most that can be in use now',
    unit: 'By',
    labels: { kind: ['used', 'limit'] },
  }),
  shortages: counter('vision.inference.shortages', {
    meaning: 'Refused submits and ended attempts at jobs, for lack of local space or processes',
    labels: { at: ['submit', 'attempt'], reason: ['no_local_space', 'decoder_not_started'] },
  }),
  started: counter('vision.jobs.started', {
    meaning: 'Jobs taken up by a worker',
    labels: { scene, takeover: '`true` when another worker had it' },
  }),
  ended: counter('vision.jobs.ended', {
    meaning: 'Jobs that ended',
    labels: {
      scene,
      status: ['stopped', 'succeeded', 'failed'],
      reason: 'why it failed, a word of the code; or empty',
    },
  }),
  fenced: counter('vision.jobs.fenced', {
    meaning: 'Jobs yielded because their lease could not be renewed in time',
  }),
  sources: gauge('vision.sources', {
    meaning: 'Live sources of this replica; `stalled` is a quiet source, `blocked` is a slow consumer of ours',
    labels: { state: ['connecting', 'running', 'stalled', 'blocked'] },
  }),
  reports: counter('vision.source.reports', {
    meaning:
      'Reports about sources for the topic of jobs: published, failed and tried again, or dropped because too many ' +
      'waited. Frames do not depend on them',
    unit: '{report}',
    labels: { outcome: ['published', 'failed', 'dropped'] },
  }),
  probes: counter('vision.inference.stream_probes', {
    meaning: 'Live streams that were read for a probe. `saturated`: refused because every slot was taken',
    labels: { outcome: [...streamProbeProblems, 'frame', 'scene_unknown', 'saturated', 'unavailable'] },
  }),
  snapshots: counter('vision.snapshots', {
    meaning:
      'Snapshots of live streams: stored because the newest frame was asked for, not stored because of a failure, or ' +
      'left out because they came too long after their frame. Frames do not depend on them',
    unit: '{snapshot}',
    labels: { outcome: ['stored', 'not_stored', 'late'] },
  }),
  trackSnapshots: counter('vision.track_snapshots', {
    meaning:
      'Images of tracks: published, not stored or published because of a failure, dropped because too many were under ' +
      'way, or late: a frame in the size of a snapshot that came without its objects. Frames do not depend on them',
    unit: '{snapshot}',
    labels: { outcome: ['published', 'failed', 'dropped', 'late'] },
  }),
  retries: counter('vision.source.retries', {
    meaning: 'Connections to live sources that were lost',
    labels: { scene, reason: 'a word of the code' },
  }),
};

/** Metrics of frames. */
export const frameMetrics = {
  read: counter('vision.frames.read', {
    meaning: 'Frames that came out of a decoder',
    labels: { kind: ['live', 'file'] },
  }),
  sampled: counter('vision.frames.sampled', { meaning: 'Frames handed to a model' }),
  repeated: counter('vision.frames.repeated', {
    meaning: 'Frames in which nothing moved, and which repeat the objects of the one before (`still` of a scene)',
    labels: { scene },
  }),
  published: counter('vision.frames.published', { meaning: 'Frames that Kafka acknowledged', labels: { scene } }),
  dropped: counter('vision.frames.dropped', {
    meaning:
      'Frames of live streams left out: a fresher one was there, no number was confirmed, the job was lost, or Kafka took none and memory was full',
    labels: { scene, reason: ['fresher', 'no_number', 'not_held', 'unsent'] },
  }),
  unsent: gauge('vision.frames.unsent', {
    meaning: 'Memory of frames that wait for Kafka in this replica, at most UNSENT_FRAMES_MAX_BYTES',
    unit: 'By',
  }),
  detecting: histogram('vision.frame.detect.duration', {
    meaning: 'Waiting for and running the model on one frame',
    labels: { scene },
    buckets: buckets.detect,
  }),
};
