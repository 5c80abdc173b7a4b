import type { z } from 'zod';
import { alarmChanged } from '@vision/contracts/alarm-events';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import type { alarmFacts, AlarmEvidence, AlarmImage, AlarmKind } from '@vision/contracts/alarms';
import type { TrackedObject } from '@vision/contracts/detection';
import type { RuleAlarm } from './fold/evaluation.ts';
import type { Alarm, SeenObject } from './fold/rules/state.ts';
import { isTrackId } from './fold/tracks.ts';

type AlarmFacts = z.infer<z.ZodObject<typeof alarmFacts>>;

/** Facts of an alarm, in the form of the API. */
export function factsOf(taskId: string, kind: AlarmKind, alarm: Alarm): AlarmFacts {
  return {
    kind,
    opened_ms: alarm.openedMs,
    closed_ms: alarm.closedMs,
    suppressed: alarm.suppressed,
    evidence: evidenceOf(taskId, alarm),
    labels: alarm.labels,
    count_max: alarm.countMax,
    track_ids: alarm.trackIds,
  };
}

function evidenceOf(taskId: string, { evidence }: Alarm): AlarmEvidence {
  const { frame, objects, count, heldMs, direction, status, region, line } = evidence;
  return {
    ...(frame ? { frame_id: `${taskId}-${frame.seq}`, frame_time_ms: frame.timeMs } : {}),
    objects: objects.map(objectBody),
    count,
    held_ms: heldMs,
    direction,
    status,
    region,
    line,
  };
}

const objectBody = ({ label, trackId, score, cx, cy, width, height }: SeenObject): TrackedObject => ({
  label,
  score: score / 1e6,
  bbox: { format: 'cxcywh_normalized', cx, cy, width, height },
  track_id: trackId,
});

/** The task of an alarm, in the form of other services. */
export interface AlarmedTask {
  taskId: string;
  subject: string;
  clientRef: string | null;
  sceneCode: string | null;
  isLive: boolean;
  /** Images of its tracks are stored. */
  hasImages: boolean;
}

/** The event about an alarm. */
export const alarmEvent = (alarm: AlarmSnapshot) =>
  ({ ...alarmChanged, key: alarm.task_id, source: 'results', data: alarm }) as const;

/** Versions of an alarm: it opens and closes once each, and its image is stored once, at any time. */
const OPENED = 1;
const CLOSED = 3;

/** The image of an alarm that was announced without it: an alarm that is open, and one that has closed. */
export const withImage = (alarm: AlarmSnapshot, snapshot: AlarmImage, storedMs: number): AlarmSnapshot => ({
  ...alarm,
  version: alarm.version + 1,
  snapshot,
  judged_at: new Date(storedMs).toISOString(),
});

/** The track whose image shows what raised an alarm; undefined when no object did. */
export const imageTrackOf = ({ evidence }: Alarm): string | undefined =>
  evidence.objects.find(({ trackId }) => isTrackId(trackId))?.trackId;

/** The part of an alarm about the image of this track; `stored` is the frame time of the stored image. */
export function alarmImageOf(
  { taskId, hasImages }: Pick<AlarmedTask, 'taskId' | 'hasImages'>,
  trackId: string | undefined,
  stored: number | undefined,
): AlarmImage {
  if (!hasImages) return { state: 'off' };
  if (trackId === undefined) return { state: 'none' };
  const path = `/v1/vision/tasks/${taskId}/tracks/${trackId}/snapshot`;
  return stored === undefined ? { state: 'pending', path } : { state: 'available', path, frame_time_ms: stored };
}

/** A change of an alarm and the state of its image, at the time of the evaluation (Unix milliseconds). */
interface Evaluated {
  snapshot: AlarmImage;
  evaluatedMs: number;
}

/** The event of a change of an alarm. */
export function alarmSnapshotOf(
  task: AlarmedTask,
  change: RuleAlarm,
  { snapshot, evaluatedMs }: Evaluated,
): AlarmSnapshot {
  const { alarm, id, version, kind } = change;
  const isClosed = alarm.closedMs !== undefined;
  const { evidence, ...facts } = factsOf(task.taskId, kind, alarm);
  return {
    alarm_id: alarm.alarmId,
    version: isClosed ? CLOSED : OPENED,
    subject: task.subject,
    rule_id: id,
    rule_version: version,
    task_id: task.taskId,
    client_ref: task.clientRef ?? undefined,
    scene_code: task.sceneCode ?? undefined,
    is_live: task.isLive,
    state: isClosed ? 'closed' : 'open',
    ...facts,
    evidence: { ...evidence, objects: evidence.objects.map(inStorableForm) },
    labels: facts.labels.map(storable),
    closed_by: alarm.closedBy,
    snapshot,
    judged_at: new Date(evaluatedMs).toISOString(),
  };
}

const MOST_CHARACTERS = 200;

/** The outbox accepts neither NUL nor half of a surrogate pair; a name may come from any backend. */
const storable = (text: string): string => text.slice(0, MOST_CHARACTERS).toWellFormed().replaceAll('\0', '\uFFFD');

const inStorableForm = (object: TrackedObject): TrackedObject => ({
  ...object,
  label: storable(object.label),
  track_id: storable(object.track_id),
});
