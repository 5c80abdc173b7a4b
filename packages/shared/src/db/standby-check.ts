import type { Knex } from 'knex';
import { z } from 'zod';
import { asUnavailable } from '../unavailable.ts';
import { away, rootMessage, wrong } from '../start/fault.ts';
import type { StartCheck } from '../start/start-checks.ts';
import { createGauge } from '../telemetry/instruments.ts';
import { standbyMetrics } from '../telemetry/shared-metrics.ts';

/** Of services whose database must not lose a commit in a failover. */
export const standbyConfig = {
  DATABASE_STANDBY: z
    .enum(['warn', 'require', 'managed'])
    .default('warn')
    .describe(
      'Effect of a missing synchronous standby at start: `warn` logs a warning, `require` fails the readiness check, `managed` skips the check because the provider replicates below PostgreSQL',
    ),
};

type StandbyConfig = z.output<z.ZodObject<typeof standbyConfig>>;

/**
 * What a process asks at its start of a database whose commits cannot be repeated: whether they are on a second server
 * before callers hear of them. The settings of this connection count, so `alter database` and `alter role` do too.
 */
export function standbyCheck(db: Knex, { DATABASE_STANDBY: mode }: StandbyConfig): StartCheck {
  return {
    name: 'standby',
    readyWhileAway: true,
    ask: async () => {
      if (mode === 'managed') return undefined;
      try {
        const lacks = await settingsWithoutStandby(db);
        createGauge(standbyMetrics.synchronous).record(lacks === undefined ? 1 : 0);
        if (lacks === undefined) return undefined;
        const sentence = `A failover of the database loses commits that were confirmed: ${lacks}; see DATABASE_STANDBY`;
        return mode === 'require' ? wrong(sentence) : { kind: 'risk', sentence };
      } catch (error) {
        if (asUnavailable(error))
          return away(`The database does not say whether it has a standby: ${rootMessage(error)}`);
        throw error;
      }
    },
  };
}

/** The levels at which a commit waits until a standby has written it. */
const LASTING = ['on', 'remote_apply'];

async function settingsWithoutStandby(db: Knex): Promise<string | undefined> {
  const { rows } = await db.raw<{ rows: [{ names: string; level: string }] }>(
    `select current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as level`,
  );
  const [{ names, level }] = rows;
  if (names.trim() === '') return 'synchronous_standby_names is empty';
  return LASTING.includes(level) ? undefined : `synchronous_commit is ${level}`;
}
