import type { AlertCase } from './cases.ts';
import { steady, values } from './series.ts';

const DAY = 24 * 60;
const SWEEPS_OFF = 'vision_bucket_sweeps_off{service="tasks",objects="videos",reason="restored",pod="a"}';

/** Alerts about the removal of stored objects. */
export const sweepCases: Record<string, AlertCase> = {
  VisionSweepRefused: {
    atMinute: 7,
    fires: {
      when: values('vision_sweep_refused_total{service="tasks"}', '_x3 40x6'),
      labels: { service: 'tasks' },
      summary: 'The database of tasks does not know many of the stored objects',
    },
    stays: { 'nothing happened': steady('vision_sweep_refused_total{service="tasks"}', 0, 10) },
  },
  VisionSweepsOff: {
    atMinute: DAY + 5,
    fires: {
      when: steady(SWEEPS_OFF, 1, DAY + 10),
      labels: { service: 'tasks', reason: 'restored' },
      summary: 'tasks removes no orphaned objects: restored',
    },
    stays: {
      'an owner': steady(SWEEPS_OFF, 0, DAY + 10),
      'a restore that an operator confirmed': values(SWEEPS_OFF, `1x${DAY - 60} 0x70`),
    },
  },
};
