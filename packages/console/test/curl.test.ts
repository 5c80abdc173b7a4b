import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { curlOf } from '../src/lib/image-files.ts';

const run = promisify(execFile);
const bodies: string[] = [];
const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    bodies.push(Buffer.concat(chunks).toString());
    res.end();
  });
});
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vision-curl-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

test('the command sends each file under its name and its type, and runs nothing that a name holds', async () => {
  const files = [
    { name: `it's; touch $HOME,$(touch ran).webp`, type: 'image/webp' },
    { name: 'a "quoted" \\ name.jpg', type: 'image/jpeg' },
  ];
  for (const { name } of files) await writeFile(join(folder, name), `content of ${name}`);
  const { port } = server.address() as AddressInfo;
  const command = curlOf(`http://127.0.0.1:${port}`, 'person_vehicle', files);
  expect(command).not.toContain('vk_');
  await run('sh', ['-c', `uuidgen() { echo key; }; ${command}`], { cwd: folder });
  const [body = ''] = bodies;
  for (const { name, type } of files) {
    expect(body).toContain(`content of ${name}`);
    expect(body).toContain(`Content-Type: ${type}`);
  }
  expect(body).toMatch(/filename="it's; touch \$HOME,\$\(touch ran\)\.webp"/);
  await expect(run('ls', [join(folder, 'ran')])).rejects.toThrow();
});
