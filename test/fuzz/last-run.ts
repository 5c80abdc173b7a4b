import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordOf } from '../../scripts/release/record.ts';
import type { RunRecord } from '../../scripts/release/record.ts';

/** The figures of the last recorded run, which docs/security.md shows. */
export interface FuzzRun {
  record: RunRecord;
  minutes: number;
  parsers: ParserFigures[];
  apis: ApiFigures[];
}

export interface ParserFigures {
  target: string;
  inputs: number;
  inputsPerSecond: number;
  /** Branches of the parser's own sources. */
  edges: number;
  edgesHit: number;
  findings: number;
}

export interface ApiFigures {
  api: 'public' | 'admin';
  operations: number;
  requests: number;
  /** Answers of a status from 500 on. */
  serverErrors: number;
  /** Other answers that are not as the document says. */
  findings: number;
  /** Connections to an address that streams may not come from. */
  innerHits: number;
}

const file = join(import.meta.dirname, 'last-run.json');

export function recordRun(figures: Omit<FuzzRun, 'record'>): void {
  const run: FuzzRun = { record: recordOf('fuzz', join(import.meta.dirname, '../..')), ...figures };
  writeFileSync(file, `${JSON.stringify(run, undefined, 2)}\n`);
}

export function readRun(): FuzzRun {
  return JSON.parse(readFileSync(file, 'utf8')) as FuzzRun;
}
