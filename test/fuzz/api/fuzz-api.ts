import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Caller, admin, system } from '../../support/system.ts';
import { KEPT, readCorpus } from '../corpus.ts';
import type { ApiFigures } from '../last-run.ts';

export interface ApiOptions {
  program: string;
  seconds: number;
  seed: number;
  localDir: string;
}

const documents = join(import.meta.dirname, '../../../docs/openapi');
/** So much that no limit hides what is behind it. */
const UNLIMITED = {
  video_tasks_per_day: 1_000_000,
  images_per_day: 10_000_000,
  requests_per_second: 100_000,
  burst: 1_000_000,
  active_tasks: 1000,
  image_calls: 10_000,
  video_uploads: 10_000,
};

/** Lets schemathesis ask the running system, first as a tenant, then as the operator, who may turn any switch. */
export async function fuzzApis(options: ApiOptions): Promise<ApiFigures[]> {
  const stream = await serveStream();
  try {
    await leaveMaintenance();
    const caller = await Caller.create(UNLIMITED);
    const seconds = options.seconds / 2;
    const open = { ...options, seconds, streamUrl: stream.url };
    const asTenant = await fuzzApi('public', { url: system.baseUrl, token: caller.key }, open);
    const asOperator = await fuzzApi('admin', { url: system.adminUrl, token: system.adminToken }, open);
    return [asTenant, asOperator];
  } finally {
    await leaveMaintenance();
    stream.close();
  }
}

/** The operator's part turns it on among other things, and may have been interrupted. */
async function leaveMaintenance(): Promise<void> {
  const { status, text } = await admin('PUT', '/admin/v1/maintenance', { enabled: false });
  if (status !== 200) throw new Error(`maintenance does not end: ${status} ${text}`);
}

/** A recording that is sent at once and ends: what reads it is soon over. */
async function serveStream() {
  const video = readCorpus(KEPT, 'mp4').find(({ name }) => name === 'plain')?.bytes;
  if (!video) throw new Error('corpus/mp4/plain is missing');
  const server = createServer((_req, res) => res.writeHead(200, { 'content-type': 'video/mp4' }).end(video));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/yard.mp4`, close: () => server.close().closeAllConnections() };
}

async function fuzzApi(
  api: ApiFigures['api'],
  { url, token }: { url: string; token: string },
  options: ApiOptions & { streamUrl: string },
): Promise<ApiFigures> {
  mkdirSync(options.localDir, { recursive: true });
  const report = join(options.localDir, `${api}.json`);
  const args = ['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', join(documents, `${api}.json`)];
  args.push('--url', url, '--header', `Authorization: Bearer ${token}`, '--checks', 'all', '--no-color');
  args.push('--max-time', String(Math.max(1, Math.round(options.seconds))), '--seed', String(options.seed));
  args.push('--warnings', 'off', '--report-json-path', report);
  const hooks = join(import.meta.dirname, 'hooks.py');
  const child = spawn(options.program, args, {
    // In a folder of the run, because the program leaves notes where it is started.
    cwd: options.localDir,
    env: { ...process.env, FUZZ_HOOKS: hooks, FUZZ_STREAM_URL: options.streamUrl, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  const figures = readFigures(api, report);
  const { operations, requests, serverErrors, findings } = figures;
  const found = `${serverErrors} server errors, ${findings} other findings`;
  console.log(`fuzz       ${`${api} API`.padEnd(16)} ${requests} requests to ${operations} operations, ${found}`);
  if (exitCode !== 0) {
    console.log(Buffer.concat(said).toString());
    if (serverErrors + findings === 0) figures.findings = 1;
  }
  return figures;
}

interface Report {
  operations: { tested: number };
  test_cases: { generated: number };
  failures: { type: string; count: number }[];
  errors: unknown[];
}

function readFigures(api: ApiFigures['api'], file: string): ApiFigures {
  const { operations, test_cases: cases, failures, errors } = JSON.parse(readFileSync(file, 'utf8')) as Report;
  const serverErrors = failures.filter(({ type }) => type === 'ServerError').length;
  return {
    api,
    operations: operations.tested,
    requests: cases.generated,
    serverErrors,
    findings: failures.length - serverErrors + errors.length,
  };
}
