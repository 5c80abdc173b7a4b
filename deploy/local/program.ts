import { execFile } from 'node:child_process';

export interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. This process goes on meanwhile: it relays what the program sends. */
export async function runProgram(
  [command = '', ...args]: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; timeoutMs?: number } = {},
): Promise<Outcome> {
  const { env, cwd, timeoutMs: timeout = 600_000 } = options;
  return new Promise((done) => {
    execFile(command, args, { env, cwd, timeout, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      done({ status: code, stdout, stderr });
    });
  });
}

/** Its output. @throws Error with what it said when it fails. */
export async function outputOf(command: string[]): Promise<string> {
  const { status, stdout, stderr } = await runProgram(command);
  if (status === 0) return stdout.trim();
  throw new Error(`${command.slice(0, 3).join(' ')} failed: ${`${stdout}${stderr}`.trim()}`);
}
