import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type LogLine = Record<string, unknown>;

/** Every line of level error that any process of the run has written. */
export function errorLines(folder: string): LogLine[] {
  return readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
      .flatMap(parsed),
  );
}

/** A process that is killed leaves half a line. */
function parsed(line: string): LogLine[] {
  try {
    return [JSON.parse(line) as LogLine];
  } catch {
    return [];
  }
}
