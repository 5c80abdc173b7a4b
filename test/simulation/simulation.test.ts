import { spawn } from 'node:child_process';
import { expect, test } from '@jest/globals';

/** Time is replaced in the process that plays, so it is one of its own. */
async function play(env: Record<string, string>): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn(process.execPath, ['--conditions=@vision/source', 'test/simulation/run.ts'], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const exitCode = await new Promise<number | null>((done) => child.once('close', done));
  return { exitCode, output };
}

test('no schedule of a short simulation breaks a promise to callers', async () => {
  const { exitCode, output } = await play({ SEED: '1', MINUTES: '0.2', ONLY: '' });
  expect(output).toContain('passed, 0 failed');
  expect(exitCode).toBe(0);
});
