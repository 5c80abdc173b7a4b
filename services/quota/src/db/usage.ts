import type { Knex } from 'knex';

export interface UsedToday {
  /** `YYYY-MM-DD` in UTC+8. */
  day: string;
  video: number;
  image: number;
}

export async function usedToday(db: Knex, subject: string): Promise<UsedToday> {
  const result = await db.raw<{ rows: UsedToday[] }>(
    `select today.day::text,
            coalesce(max(q.used) filter (where q.kind = 'video'), 0)::int as video,
            coalesce(max(q.used) filter (where q.kind = 'image'), 0)::int as image
       from (select quota_today() as day) as today
       left join quota_days as q on q.subject = :subject and q.day = today.day
      group by today.day`,
    { subject },
  );
  const [row] = result.rows;
  if (!row) throw new Error('the usage query returned no row');
  return row;
}
