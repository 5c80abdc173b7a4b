import type { Knex } from 'knex';

/** Frames are written as rows of `frames`, or as runs of them in `segments`. */
export type FrameForm = 'rows' | 'segments';

/** The form that the database was made for, or that was chosen since. */
export async function readFrameForm(db: Knex): Promise<FrameForm> {
  const row = await db('frame_form').first<{ form: FrameForm } | undefined>('form');
  // Every release reads rows.
  return row?.form ?? 'rows';
}

/** From now on frames are written as segments, unless the settings say otherwise. */
export async function chooseSegments(db: Knex): Promise<void> {
  await db.raw(`
    insert into frame_form as known (form) values ('segments')
    on conflict (is_only_row) do update set form = 'segments', changed_at = now() where known.form <> 'segments'`);
}
