import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { selectDifferences } from '@vision/shared/audit/differences';
import { createSegmentStore } from '../services/results/src/clients/segment-store.ts';
import { segmentKey } from '../services/results/src/domain/segments/segment-key.ts';
import { auditSegments } from '../services/results/src/use-cases/operate/audit-segments.ts';
import { testSettings } from '../services/results/test/support.ts';
import { atMost, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { syntheticTaskId } from './synthetic-frames.ts';

/** What 10,000 streams of 5 frames a second make in a minute. */
const STREAMS = 10_000;
const SEGMENT_FRAMES = 512;
const SEGMENTS = Math.ceil((STREAMS * 5 * 60) / SEGMENT_FRAMES);
/** Of 3 objects a frame, in the object store. */
const OBJECT_BYTES = 15_000;
const PUTS_AT_ONCE = 16;

/** The object of each segment that these streams make in a minute is asked for, as after compaction. */
export async function measureSegmentAudits(upkeep: Knex, db: Knex): Promise<Figure[]> {
  const s3 = await testS3();
  const store = createSegmentStore(s3);
  try {
    await fill(upkeep, s3);
    const audit = auditSegments({ db, store, settings: { ...testSettings, auditAgeMs: 0 } });
    const before = process.cpuUsage();
    const tookMs = await timed(async () => {
      while (await audit.find());
    });
    const { user, system } = process.cpuUsage(before);
    const differences = await selectDifferences(db, 0, 1);
    if (differences.length > 0) throw new Error(`whole segments differ: ${JSON.stringify(differences)}`);
    const of = `segments that ${STREAMS} streams store in a minute`;
    return [
      { name: of, value: SEGMENTS, unit: '' },
      { name: `${of}, audited`, value: tookMs / 1000, unit: 's' },
      { name: `ratio of ${of}, over that minute`, value: tookMs / 60_000, unit: 'ratio', target: atMost(1) },
      {
        name: 'processor time of results to audit a frame that was moved',
        value: (user + system) / (SEGMENTS * SEGMENT_FRAMES),
        unit: 'us',
        target: atMost(10),
      },
    ];
  } finally {
    store.close();
    await s3.close();
  }
}

async function fill(db: Knex, { client, bucket }: TestS3): Promise<void> {
  const [day = ''] = new Date().toISOString().split('T');
  const ids = Array.from({ length: SEGMENTS }, () => syntheticTaskId());
  const keys = ids.map((taskId) => segmentKey('segments/', { day, taskId, firstSeq: 0, name: 'bench' }));
  const content = randomBytes(OBJECT_BYTES);
  for (let from = 0; from < keys.length; from += PUTS_AT_ONCE)
    await Promise.all(keys.slice(from, from + PUTS_AT_ONCE).map((key) => client.putObject(bucket, key, content)));
  await db.raw(
    `insert into segments (day, task_id, first_seq, last_seq, first_position, last_position, first_time_ms,
            last_time_ms, frames, attempts, heads, object_key, bytes, checksum)
     select :day, id, 0, :frames::int - 1, 0, :frames::int - 1, 0, :frames::int * 200, :frames,
            jsonb_build_object('1', jsonb_build_array(:frames::int, 0, :frames::int - 1)),
            decode(repeat('00', 1000), 'hex'), key, :bytes, 0
       from unnest(:ids::uuid[], :keys::text[]) as segment (id, key)`,
    { day, ids, keys, frames: SEGMENT_FRAMES, bytes: OBJECT_BYTES },
  );
  await db.raw('analyze segments');
}
