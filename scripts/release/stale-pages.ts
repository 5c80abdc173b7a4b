import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { measurements } from './measurements.ts';
import type { Measurement } from './measurements.ts';
import { recordsIn } from './record.ts';
import { changedSince, hasCommit, missingHistory } from './repository.ts';

interface StalePage {
  page: string;
  /** One reason for each measurement of the page that is stale. */
  reasons: string[];
}

export interface Freshness {
  /** Why nothing was checked; undefined when the pages were checked. */
  notChecked?: string;
  stale: StalePage[];
}

/** Pages that show a measurement of files that have changed since the commit that the page names. */
export function checkPages(root: string, all: readonly Measurement[] = measurements): Freshness {
  const notChecked = missingHistory(root);
  if (notChecked !== undefined) return { notChecked, stale: [] };
  const pages = [...new Set(all.map(({ page }) => page))];
  const stale = pages.map((page) => ({
    page,
    reasons: all.filter((measurement) => measurement.page === page).flatMap((one) => reasonsOf(root, one)),
  }));
  return { stale: stale.filter(({ reasons }) => reasons.length > 0) };
}

function reasonsOf(root: string, { command, page, files }: Measurement): string[] {
  const file = join(root, page);
  const record = existsSync(file)
    ? recordsIn(readFileSync(file, 'utf8')).find((one) => one.command === command)
    : undefined;
  if (!record) return [`${command}: no record`];
  const { commit } = record;
  if (commit.endsWith('-modified')) return [`${command}: measured with uncommitted changes`];
  if (!hasCommit(root, commit)) return [`${command}: commit ${commit.slice(0, 12)} is unknown here`];
  const isListed = files.join() === record.files.join();
  if (!isListed) return [`${command}: lists other files than scripts/release/measurements.ts`];
  const changed = changedSince(root, commit, files).length;
  return changed === 0 ? [] : [`${command}: ${changed} of its files changed since ${commit.slice(0, 12)}`];
}

/** The short list for a terminal: one line for each stale page. */
export function freshnessLines({ notChecked, stale }: Freshness): string[] {
  if (notChecked !== undefined) return [`measured pages: not checked (${notChecked})`];
  if (stale.length === 0) return [];
  return [
    `${stale.length} pages show measurements of older code (make release-check renews them):`,
    ...stale.map(({ page, reasons: [first = '', ...more] }) =>
      more.length === 0 ? `  ${page}: ${first}` : `  ${page}: ${first}; ${more.length} more`,
    ),
  ];
}
