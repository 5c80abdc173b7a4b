import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../deploy/local/settings.ts';

export interface CommandOutcome {
  exitCode: number;
  /** Its standard output, as JSON. */
  value: Record<string, unknown>;
  /** What it was and how it ended. */
  says: string;
}

/** Runs the command line of operators as docs/restore.md writes it. */
export type Visionctl = (command: string) => Promise<CommandOutcome>;

/** @param env where the system is, and the token of the operator */
export function createVisionctl(env: Record<string, string>): Visionctl {
  return (command) =>
    new Promise((done) => {
      const program = join(root, 'packages/visionctl/src/main.ts');
      const args = ['--conditions=@vision/source', program, ...wordsOf(command), '--json'];
      execFile(
        process.execPath,
        args,
        { env: { ...process.env, NODE_OPTIONS: '', ...env } },
        (error, output, errors) => {
          const exitCode = error === null ? 0 : Number(error.code ?? 1);
          const value = readJson(output);
          done({ exitCode, value, says: `visionctl ${command}: exit code ${exitCode}: ${errors || output}` });
        },
      );
    });
}

/** Words are separated by blanks, except inside of quotes. */
const wordsOf = (command: string) =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');

function readJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
