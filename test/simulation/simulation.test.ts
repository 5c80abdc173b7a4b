import { spawn } from 'node:child_process';
import { expect, test } from '@jest/globals';

/** Time is replaced in the process that plays, so it is one of its own. */
async function run(program: string, env: Record<string, string>): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn(process.execPath, ['--conditions=@vision/source', `test/simulation/${program}`], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const exitCode = await new Promise<number | null>((done) => child.once('close', done));
  return { exitCode, output };
}

/** The schedules of these seeds, in their order whatever the order of playing was. */
async function replay(world: string, seeds: string): Promise<unknown[]> {
  const { exitCode, output } = await run('replay.ts', { ONLY: world, SEEDS: seeds });
  if (exitCode !== 0) throw new Error(output);
  const played = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { seed: number });
  return played.sort((a, b) => a.seed - b.seed);
}

test('no schedule of a short simulation breaks a promise to callers', async () => {
  const { exitCode, output } = await run('run.ts', { SEED: '1', MINUTES: '0.2', ONLY: '' });
  expect(output).toContain('passed, 0 failed');
  expect(exitCode).toBe(0);
});

test.each(['results', 'places', 'leases'])(
  'a seed of the world %s plays the same steps, whatever was played before it',
  async (world) => {
    const [up, down] = await Promise.all([replay(world, '1,30'), replay(world, '30,1')]);
    expect(up).toHaveLength(30);
    expect(down).toEqual(up);
  },
);
