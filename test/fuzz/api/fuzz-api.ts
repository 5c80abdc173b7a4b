import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openInner } from '../../attacks/inner.ts';
import type { Inner } from '../../attacks/inner.ts';
import { Caller, admin, system } from '../../support/system.ts';
import { KEPT, readCorpus } from '../corpus.ts';
import type { ApiFigures } from '../last-run.ts';

export interface ApiOptions {
  program: string;
  seconds: number;
  seed: number;
  localDir: string;
}

interface OpenOptions extends ApiOptions {
  streamUrl: string;
  inner: Inner;
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
  const inner = await openInner();
  const stream = await serveStream(inner);
  try {
    await leaveMaintenance();
    const caller = await Caller.create(UNLIMITED);
    const seconds = options.seconds / 2;
    const open = { ...options, seconds, streamUrl: stream.url, inner };
    const asTenant = await fuzzApi('public', { url: system.baseUrl, token: caller.key }, open);
    const asOperator = await fuzzApi('admin', { url: system.adminUrl, token: system.adminToken }, open);
    return [asTenant, asOperator];
  } finally {
    await leaveMaintenance();
    stream.close();
    inner.close();
  }
}

/** The operator's part turns it on among other things, and may have been interrupted. */
async function leaveMaintenance(): Promise<void> {
  const { status, text } = await admin('PUT', '/admin/v1/maintenance', { enabled: false });
  if (status !== 200) throw new Error(`maintenance does not end: ${status} ${text}`);
}

/** A recording that is sent at once and ends: what reads it is soon over. `?away` leads to the inner address. */
async function serveStream(inner: Inner) {
  const video = readCorpus(KEPT, 'mp4').find(({ name }) => name === 'plain')?.bytes;
  if (!video) throw new Error('corpus/mp4/plain is missing');
  const server = createServer(({ url }, res) => {
    if (url?.includes('?away')) res.writeHead(302, { location: inner.url('http') }).end();
    else res.writeHead(200, { 'content-type': 'video/mp4' }).end(video);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/yard.mp4`, close: () => server.close().closeAllConnections() };
}

async function fuzzApi(
  api: ApiFigures['api'],
  { url, token }: { url: string; token: string },
  options: OpenOptions,
): Promise<ApiFigures> {
  mkdirSync(options.localDir, { recursive: true });
  const { inner } = options;
  const hitsBefore = inner.hits();
  const report = join(options.localDir, `${api}.json`);
  const args = ['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', join(documents, `${api}.json`)];
  // All checks by default; naming them here would overrule what the configuration says of some.
  args.push('--url', url, '--header', `Authorization: Bearer ${token}`, '--no-color');
  args.push('--max-time', String(Math.max(1, Math.round(options.seconds))), '--seed', String(options.seed));
  args.push('--warnings', 'off', '--report-json-path', report);
  const { exitCode, said } = await runSchemathesis(args, options);
  const figures = { ...readFigures(api, report), innerHits: inner.hits() - hitsBefore };
  const { operations, requests, serverErrors, findings, innerHits } = figures;
  const found = `${serverErrors} server errors, ${findings} other findings, ${innerHits} inner hits`;
  console.log(`fuzz       ${`${api} API`.padEnd(16)} ${requests} requests to ${operations} operations, ${found}`);
  if (exitCode !== 0) {
    console.log(said);
    if (serverErrors + findings === 0) figures.findings = 1;
  }
  return figures;
}

async function runSchemathesis(args: readonly string[], { program, localDir, streamUrl, inner }: OpenOptions) {
  const child = spawn(program, args, {
    // In a folder of the run, because the program leaves notes where it is started.
    cwd: localDir,
    env: {
      ...process.env,
      FUZZ_HOOKS: join(import.meta.dirname, 'hooks.py'),
      FUZZ_STREAM_URL: streamUrl,
      FUZZ_INNER: `${inner.host}:${inner.port}`,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  return { exitCode, said: Buffer.concat(said).toString() };
}

interface Report {
  operations: { tested: number };
  test_cases: { generated: number };
  failures: { type: string; count: number }[];
  errors: unknown[];
}

function readFigures(api: ApiFigures['api'], file: string): Omit<ApiFigures, 'innerHits'> {
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
