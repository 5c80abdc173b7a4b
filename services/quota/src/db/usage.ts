import type { Knex } from 'knex';
import type { UsageDay } from '@vision/contracts/quota';
import type { DayRange } from '../domain/day-range.ts';

/** The present day of the quota, `YYYY-MM-DD` in UTC+8. */
export async function quotaToday(db: Knex): Promise<string> {
  const { rows } = await db.raw<{ rows: { day: string }[] }>('select quota_today()::text as day');
  return rows[0]?.day ?? '';
}

/** Usage of a subject on the days of a range; days without usage are omitted. */
export async function usedOnDays(db: Knex, subject: string, { from, to }: DayRange): Promise<UsageDay[]> {
  const { rows } = await db.raw<{ rows: UsageDay[] }>(
    `select day::text,
            coalesce(max(used) filter (where kind = 'video'), 0)::int as video,
            coalesce(max(used) filter (where kind = 'image'), 0)::int as image
       from quota_days
      where subject = :subject and kind in ('video', 'image') and day between :from and :to
      group by day`,
    { subject, from, to },
  );
  return rows;
}

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
