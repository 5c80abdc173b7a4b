import { alarmKind } from '@vision/contracts/alarms';
import { buckets } from '@vision/shared/telemetry/buckets';
import { counter, gauge, histogram } from '@vision/shared/telemetry/metric';

/** Metrics of results. */
export const metrics = {
  stored: counter('vision.results.frames_stored', { unit: '{frame}', meaning: 'Stored frames' }),
  ignored: counter('vision.results.frames_ignored', {
    unit: '{frame}',
    meaning: 'Frames of an older attempt, or of tasks whose results have expired or were deleted',
    labels: { reason: ['older_attempt', 'expired', 'deleted'] },
  }),
  readableAge: histogram('vision.results.readable_age', {
    meaning:
      'From the capture of a frame to the commit that makes it readable; of live streams only, without frames that are ' +
      'read again after the database lost commits',
    labels: { kind: ['live'] },
    buckets: buckets.lag,
  }),
  completed: counter('vision.results.completed', { meaning: 'End-of-stream markers in effect' }),
  conflicts: counter('vision.results.frame_conflicts', {
    unit: '{frame}',
    meaning: 'Frames that were not stored because another frame has their number. An alarm',
  }),
  holes: counter('vision.results.holes', {
    meaning: 'Tasks whose end-of-stream marker counts frames that never arrived. An alarm',
  }),
  waits: counter('vision.results.ends_waited', {
    meaning: 'End-of-stream markers that arrived before frames they count; some are normal after partitions were added',
  }),
  segmentsStored: counter('vision.results.segments_stored', {
    unit: '{segment}',
    meaning: 'Segments whose objects were moved to the object store',
  }),
  segmentFrames: counter('vision.results.segment_frames', { unit: '{frame}', meaning: 'Frames in these segments' }),
  segmentBytes: counter('vision.results.segment_size', {
    unit: 'By',
    meaning: 'Bytes of these segments in the object store',
  }),
  repaired: counter('vision.results.segments_repaired', {
    unit: '{segment}',
    meaning: 'Objects that were missing or damaged when they were read back, and were written again from their copy',
  }),
  oldestUnverified: gauge('vision.results.oldest_unverified_segment_age', {
    unit: 's',
    meaning:
      'Age of the oldest segment whose object was not read back yet, 0 when there is none. Its frames stay in the ' +
      'database until then',
  }),
  unreadable: counter('vision.results.segments_unreadable', {
    unit: '{segment}',
    meaning: 'Times a segment was damaged, or its object was missing, when a page needed it. An alarm',
  }),
  compactionLag: gauge('vision.results.compaction_lag', {
    unit: 's',
    meaning:
      'Time since the longest waiting task was due to have its frames moved to the object store, or since when every ' +
      'move of this process has failed; 0 when no task is due. Frames stay in the database until they are moved',
  }),
  foldLag: gauge('vision.results.fold_lag', {
    unit: 's',
    meaning:
      'Time since the longest waiting task was due to be folded into tracks and timeline, 0 when no task is due. ' +
      'Requests read the frames behind it themselves and take longer',
  }),
  alarms: counter('vision.results.alarms', {
    unit: '{alarm}',
    meaning: 'Alarms that rules opened, and those that closed',
    labels: { kind: alarmKind.options, change: ['opened', 'closed'] },
  }),
  alarmAge: histogram('vision.results.alarm_age', {
    meaning: 'From the capture of a frame to the commit that stores the alarm it opened; of live streams only',
    labels: { kind: alarmKind.options },
    buckets: buckets.lag,
  }),
  crossingsLeftOut: counter('vision.results.crossings_left_out', {
    unit: '{crossing}',
    meaning: 'Crossings left out because their task had 60 of them within a minute; counted as `suppressed`',
  }),
  clockSetBacks: counter('vision.results.clock_set_backs', {
    meaning:
      'Times the frames of a live stream with rules became older than those before them by over a second: the ' +
      'clock of a worker is behind that of the one before',
  }),
  blocked: counter('vision.results.partition_drops_blocked', {
    meaning: 'Partitions that could not be dropped for now because they were in use',
  }),
};
