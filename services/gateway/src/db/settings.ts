import type { Knex } from 'knex';
import type { SnapshotMode } from '@vision/contracts/create-query';
import type { LimitOverrides } from '../domain/limits.ts';
import type { Maintenance } from '../domain/maintenance.ts';

interface SettingsRow {
  subject: string;
  snapshots: SnapshotMode | null;
}

interface LimitsRow {
  subject: string;
  overrides: LimitOverrides;
}

export interface RecentChanges {
  maintenance: Maintenance;
  /** Subjects whose limits or settings changed a moment ago. */
  subjects: string[];
  /** Keys that were revoked or given an expiry a moment ago. */
  keyIds: string[];
}

/** Changes for every replica, in one round trip. The window is far longer than the poll interval. */
export async function readRecentChanges(db: Knex): Promise<RecentChanges> {
  const { rows } = await db.raw<{
    rows: { enabled: boolean; reason: string; subjects: string[]; key_ids: string[] }[];
  }>(
    `select m.enabled, m.reason,
            array(select subject from subject_limits where updated_at > now() - interval '10 seconds'
                  union
                  select subject from subject_settings where updated_at > now() - interval '10 seconds') as subjects,
            array(select key_id from api_keys where revoked_at > now() - interval '10 seconds') as key_ids
       from maintenance m`,
  );
  const row = rows[0];
  return {
    maintenance: { enabled: row?.enabled ?? false, reason: row?.reason ?? '' },
    subjects: row?.subjects ?? [],
    keyIds: row?.key_ids ?? [],
  };
}

export async function readMaintenance(db: Knex): Promise<Maintenance> {
  const row = await db<Maintenance>('maintenance').first('enabled', 'reason');
  return row ?? { enabled: false, reason: '' };
}

export async function writeMaintenance(db: Knex, next: Maintenance): Promise<void> {
  await db('maintenance').update({ ...next, updated_at: db.fn.now() });
}

export async function readOverrides(db: Knex, subject: string): Promise<LimitOverrides> {
  const row = await db<LimitsRow>('subject_limits').where({ subject }).first('overrides');
  return row?.overrides ?? {};
}

/** The overrides under a row lock; inserts the row if there is none, so that no concurrent change is lost. */
export async function lockOverrides(tx: Knex, subject: string): Promise<LimitOverrides> {
  await tx('subject_limits').insert({ subject, overrides: '{}' }).onConflict('subject').ignore();
  const row = await tx<LimitsRow>('subject_limits').where({ subject }).forUpdate().first('overrides');
  return row?.overrides ?? {};
}

export async function writeOverrides(tx: Knex, subject: string, overrides: LimitOverrides): Promise<void> {
  await tx('subject_limits')
    .where({ subject })
    .update({ overrides: JSON.stringify(overrides), updated_at: tx.raw('clock_timestamp()') });
}

/** Setting of a subject; undefined without one. */
export async function readSnapshotMode(db: Knex, subject: string): Promise<SnapshotMode | undefined> {
  const row = await db<SettingsRow>('subject_settings').where({ subject }).first('snapshots');
  return row?.snapshots ?? undefined;
}

/** Returns whether the setting has changed. */
export async function writeSnapshotMode(tx: Knex, subject: string, snapshots: SnapshotMode): Promise<boolean> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `insert into subject_settings (subject, snapshots, updated_at) values (:subject, :snapshots, clock_timestamp())
     on conflict (subject) do update set snapshots = excluded.snapshots, updated_at = excluded.updated_at
      where subject_settings.snapshots is distinct from excluded.snapshots`,
    { subject, snapshots },
  );
  return rowCount > 0;
}
