import { z } from 'zod';
import type { RuleWhen } from '@vision/contracts/alarm-rules';
import { trackedObject } from '@vision/contracts/detection';
import { taskStatus } from '@vision/contracts/task-events';
import type { Alarm, SeenObject } from '../domain/fold/rules/state.ts';

const time = z.int().meta({ format: 'int64' });

const evidence = z
  .object({
    frame_id: z.string().optional().describe('Frame that raised the alarm, or the last one before it'),
    frame_time_ms: time.optional().describe('Time of this frame'),
    objects: z
      .array(trackedObject)
      .describe('Objects of this frame that the rule counts, highest score first, at most 10'),
    count: z.int().describe('Number of objects of this frame that the rule counts'),
    held_ms: time.describe('Milliseconds for which the condition had held, without gaps'),
    direction: z
      .enum(['left_to_right', 'right_to_left'])
      .optional()
      .describe('Direction of a crossing, as seen from the first point of the line'),
    status: taskStatus.optional().describe('Final status of the task; present for `task_ended`'),
  })
  .meta({ id: 'AlarmEvidence', description: 'Why an alarm was raised' });

/** An alarm that a rule would have raised. */
export const backtestAlarm = z
  .object({
    alarm_id: z.string().describe('Identifier; the same rule raises the same alarms again'),
    kind: z.enum(['object_present', 'object_absent', 'line_crossed', 'source_down', 'task_ended']),
    state: z.enum(['open', 'closed']).describe('State at `judged_to_ms`'),
    opened_ms: time.describe('`frame_time_ms` at which the alarm opened'),
    closed_ms: time.optional().describe('`frame_time_ms` at which it closed; absent while open'),
    closed_by: z
      .enum(['cleared', 'gap', 'schedule', 'task_end'])
      .optional()
      .describe(
        '`cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. ' +
          '`task_end`: the task ended. Absent while open',
      ),
    suppressed: z.int().describe('Episodes since the alarm before that `min_interval_ms` held back'),
    evidence,
    labels: z.array(z.string()).describe('Labels of the objects during the alarm'),
    count_max: z.int().describe('Largest number of objects in one frame during the alarm'),
    track_ids: z.array(z.string()).describe('Tracks of the objects during the alarm, at most 20'),
  })
  .meta({ id: 'BacktestAlarm', description: 'Alarm that a rule would have raised' });

const exampleObject = {
  label: 'person',
  score: 0.91,
  bbox: { format: 'cxcywh_normalized' as const, cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 },
  track_id: 'a1-7',
};

export const exampleAlarm: z.infer<typeof backtestAlarm> = {
  alarm_id: '5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03',
  kind: 'object_present',
  state: 'closed',
  opened_ms: 1_773_565_206_200,
  closed_ms: 1_773_565_221_400,
  closed_by: 'cleared',
  suppressed: 0,
  evidence: {
    frame_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31',
    frame_time_ms: 1_773_565_206_200,
    objects: [exampleObject],
    count: 1,
    held_ms: 2000,
  },
  labels: ['person'],
  count_max: 2,
  track_ids: ['a1-7', 'a1-8'],
};

/** An alarm in the form of the API. */
export function alarmBody(taskId: string, kind: RuleWhen['kind'], alarm: Alarm): z.infer<typeof backtestAlarm> {
  const { frame, objects, count, heldMs, direction, status } = alarm.evidence;
  return {
    alarm_id: alarm.alarmId,
    kind,
    state: alarm.closedMs === undefined ? 'open' : 'closed',
    opened_ms: alarm.openedMs,
    closed_ms: alarm.closedMs,
    closed_by: alarm.closedBy,
    suppressed: alarm.suppressed,
    evidence: {
      ...(frame ? { frame_id: `${taskId}-${frame.seq}`, frame_time_ms: frame.timeMs } : {}),
      objects: objects.map(objectBody),
      count,
      held_ms: heldMs,
      direction,
      status,
    },
    labels: alarm.labels,
    count_max: alarm.countMax,
    track_ids: alarm.trackIds,
  };
}

const objectBody = ({ label, trackId, score, cx, cy, width, height }: SeenObject): z.infer<typeof trackedObject> => ({
  label,
  score: score / 1e6,
  bbox: { format: 'cxcywh_normalized', cx, cy, width, height },
  track_id: trackId,
});
