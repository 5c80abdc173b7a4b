import type { Knex } from 'knex';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { selectDifferences } from '@vision/shared/audit/differences';
import { createDb } from '@vision/shared/db/knex';
import { createLogger } from '@vision/shared/logger';
import { migrations } from '../services/results/src/db/migrations/list.ts';
import { auditFrames } from '../services/results/src/use-cases/operate/audit-frames.ts';
import { createPartitionKeeper } from '../services/results/src/use-cases/retain/keep-partitions.ts';
import { testSettings } from '../services/results/test/support.ts';
import { atMost, timed } from './figures.ts';
import { scratchDatabase } from './scratch-database.ts';
import { measureSegmentAudits } from './segment-audits.ts';
import { syntheticTaskId } from './synthetic-frames.ts';

export const name = 'audits';

const TASKS = Number(process.env['TASKS'] || 500);
/** Twenty minutes of a camera, ten in a second. */
const FRAMES = Number(process.env['FRAMES'] || 12_000);
/** In a segment as they are first stored: those of a quarter of a second. */
const TOGETHER = 2;
const MINUTE_S = 60;
const RETENTION_DAYS = 90;

const logger = createLogger('bench', 'silent');

/**
 * Tasks that end in one minute, audited: their counters, then every segment that is there, none of them compacted yet.
 * Then segments that were moved, each asked for in the object store. All statements are those of the service, under
 * its limits; the database is on this machine.
 */
export async function run() {
  const scratch = await scratchDatabase(migrations, 2);
  const upkeep = createDb({ url: scratch.url, poolMax: 2, applicationName: 'bench-upkeep', statementTimeoutMs: 0 });
  const db = createDb({ url: scratch.url, poolMax: 4, applicationName: 'bench-service' });
  try {
    await createPartitionKeeper(upkeep, RETENTION_DAYS).prepareAhead();
    await fill(upkeep);
    const loops = createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']);
    const audit = auditFrames({ db, loops, settings: { ...testSettings, auditAgeMs: 0 } });
    let rounds = 0;
    const tookMs = await timed(async () => {
      do rounds += 1;
      while (await audit.find());
    });
    const differences = await selectDifferences(db, 0, 1);
    if (differences.length > 0) throw new Error(`whole tasks differ: ${JSON.stringify(differences)}`);
    const tookS = tookMs / 1000;
    return {
      figures: [
        { name: `${TASKS} tasks of ${FRAMES} frames audited`, value: tookS, unit: 's' },
        {
          name: 'ratio, over the minute in which they ended',
          value: tookS / MINUTE_S,
          unit: 'ratio',
          target: atMost(1),
        },
        { name: 'rounds of the audit', value: rounds, unit: '' },
        { name: 'segments of them', value: (TASKS * FRAMES) / TOGETHER, unit: '' },
        ...(await measureSegmentAudits(upkeep, db)),
      ],
    };
  } finally {
    await db.destroy();
    await upkeep.destroy();
    await scratch.drop();
  }
}

async function fill(db: Knex): Promise<void> {
  const ids = Array.from({ length: TASKS }, () => syntheticTaskId());
  const values = { ids, frames: FRAMES, together: TOGETHER };
  await db.raw(
    `insert into ingests (task_id, attempt, stored, position, max_seq, attempt_stored, attempt_first, attempt_last,
            end_status, end_frames)
     select id, 1, :frames, :frames, :frames::int - 1, :frames, 0, :frames::int - 1, 'stopped',
            jsonb_build_object('count', :frames::int, 'first_seq', 0, 'last_seq', :frames::int - 1)
       from unnest(:ids::uuid[]) as task (id)`,
    values,
  );
  await db.raw(
    `insert into segments (day, task_id, first_seq, last_seq, first_position, last_position, first_time_ms,
            last_time_ms, frames, attempts, heads, body, bytes, checksum)
     select (now() at time zone 'UTC')::date, id, seq, seq + :together::int - 1, seq, seq + :together::int - 1,
            seq * 100, (seq + :together::int - 1) * 100, :together,
            jsonb_build_object('1', jsonb_build_array(:together::int, seq, seq + :together::int - 1)),
            decode(repeat('00', 200), 'hex'), decode(repeat('00', 1000), 'hex'), 1000, 0
       from unnest(:ids::uuid[]) as task (id)
       cross join generate_series(0, :frames::int - 1, :together::int) as seq`,
    values,
  );
  // One after the other in the last minute but one.
  await db.transaction(async (tx) => {
    await tx.raw('alter table task_views disable trigger user');
    await tx.raw(
      `insert into task_views (task_id, version, subject, status, lower_bound, default_min_score, frames_published,
              ended_at, result_expires_at, changed_at)
       select id, 3, 'bench', 'stopped', 0, 0, :frames, now(), now() + interval '1 day',
              now() - interval '2 minutes' + place * interval '60 seconds' / cardinality(:ids::uuid[])
         from unnest(:ids::uuid[]) with ordinality as task (id, place)`,
      values,
    );
  });
  await db.raw('analyze segments, ingests, task_views');
}
