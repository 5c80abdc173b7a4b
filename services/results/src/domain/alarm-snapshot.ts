import type { z } from 'zod';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import type { alarmFacts, AlarmEvidence, AlarmKind } from '@vision/contracts/alarms';
import type { TrackedObject } from '@vision/contracts/detection';
import type { RuleAlarm } from './fold/judging.ts';
import type { Alarm, SeenObject } from './fold/rules/state.ts';

type AlarmFacts = z.infer<z.ZodObject<typeof alarmFacts>>;

/** What an alarm says, in the form of the API. */
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
  const { frame, objects, count, heldMs, direction, status } = evidence;
  return {
    ...(frame ? { frame_id: `${taskId}-${frame.seq}`, frame_time_ms: frame.timeMs } : {}),
    objects: objects.map(objectBody),
    count,
    held_ms: heldMs,
    direction,
    status,
  };
}

const objectBody = ({ label, trackId, score, cx, cy, width, height }: SeenObject): TrackedObject => ({
  label,
  score: score / 1e6,
  bbox: { format: 'cxcywh_normalized', cx, cy, width, height },
  track_id: trackId,
});

/** The task of an alarm, as other services know it. */
export interface AlarmedTask {
  taskId: string;
  subject: string;
  clientRef: string | null;
  sceneCode: string | null;
  isLive: boolean;
}

/** Versions of an alarm: it opens and closes once each. */
const OPENED = 1;
const CLOSED = 2;

/** The event of a change of an alarm, judged at this time (Unix milliseconds). */
export function alarmSnapshotOf(task: AlarmedTask, change: RuleAlarm, judgedMs: number): AlarmSnapshot {
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
    judged_at: new Date(judgedMs).toISOString(),
  };
}

const MOST_CHARACTERS = 200;

/** The outbox takes neither NUL nor half of a surrogate pair; a name may come from any backend. */
const storable = (text: string): string => text.slice(0, MOST_CHARACTERS).toWellFormed().replaceAll('\0', '\uFFFD');

const inStorableForm = (object: TrackedObject): TrackedObject => ({
  ...object,
  label: storable(object.label),
  track_id: storable(object.track_id),
});
