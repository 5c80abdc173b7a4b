import { z } from 'zod';
import { defineQuestion } from './question.ts';
import { TRACK_SNAPSHOT_PREFIX } from './track-snapshots.ts';

export const missingObject = z
  .object({ task_id: z.string(), object_key: z.string() })
  .meta({ id: 'MissingObject', description: 'A row names this object, and the bucket does not have it' });

/** Compare a page of the rows that name objects with the bucket. */
export const scanObjects = defineQuestion({
  method: 'post',
  path: '/internal/v1/objects/scan',
  body: z.object({
    after: z.string().max(500).default('').describe('next_cursor of the page before'),
    limit: z.int().min(1).max(1000).default(1000),
  }),
  reply: z
    .object({
      checked: z.int(),
      missing: z.array(missingObject),
      next_cursor: z.string().describe('Empty on the last page'),
    })
    .meta({ id: 'ObjectScan' }),
});

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * What `after` of a later page looks like: the place of a row in the order of the rows of each service. Results begins
 * with segments; those of track snapshots follow, with a prefix.
 */
export const scanCursors = {
  tasks: new RegExp(`^${UUID}$`),
  images: new RegExp(`^${UUID}/\\d{1,4}$`),
  results: new RegExp(`^(?:${UUID}/\\d{1,9}/${UUID}|${TRACK_SNAPSHOT_PREFIX}${UUID}/[\\w.-]{1,64})$`),
};

export type MissingObject = z.infer<typeof missingObject>;
/** Rows behind this one, and how many of them. */
export interface ScanPage {
  after: string;
  limit: number;
}

export type ObjectScan = z.infer<typeof scanObjects.reply>;
