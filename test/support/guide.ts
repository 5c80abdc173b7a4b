import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { executedFences, fencesOf } from '../../scripts/docs/guide.ts';
import { example, exchange, system } from './system.ts';
import type { Answer } from './system.ts';

const run = promisify(execFile);

/** A request of the guide, and the answer that the served document shows for it. */
export interface GuideExample {
  request: string;
  status: number;
  body: unknown;
}

/** The example that the guide says a test executes; the answer is the fence behind the request. */
export async function guideExample(test: string): Promise<GuideExample> {
  const source = await readFile(join(import.meta.dirname, '../../scripts/docs/public-guide.md'), 'utf8');
  const request = executedFences(source).find((fence) => fence.test === test)?.text;
  const fences = await (servedFences ??= readServedFences());
  const at = fences.findIndex(({ text }) => text === request);
  const answer = fences[at + 1];
  if (request === undefined || at === -1 || answer?.language !== 'http') {
    throw new Error(`the served guide has no request with an answer for "${test}"`);
  }
  const [head = '', body = ''] = answer.text.split('\n\n');
  return { request, status: Number(head.split(' ')[1]), body: JSON.parse(body) as unknown };
}

/** Of the document that is served; it has a megabyte, and a test that waits asks for its example again and again. */
let servedFences: Promise<ReturnType<typeof fencesOf>> | undefined;

async function readServedFences(): Promise<ReturnType<typeof fencesOf>> {
  const served = await exchange(`${system.baseUrl}/openapi.json`, 'GET');
  return fencesOf((served.body['info'] as { description: string }).description);
}

/** The shell expands the lines of the guide; curl and uuidgen need not be installed, and `export` changes nothing. */
const PRELUDE = `
export() { :; }
uuidgen() { cat /proc/sys/kernel/random/uuid; }
curl() { printf '%s\\0' "$@"; }
`;

/** Sends the request of a fence; the answer has to be one that the API document describes. */
export async function execute(request: string, variables: Record<string, string>): Promise<Answer> {
  const env = { PATH: process.env['PATH'] ?? '', BASE_URL: system.baseUrl, ...variables };
  const { stdout } = await run('bash', ['-c', PRELUDE + request], { env });
  const { method, url, headers, data, parts } = readCurl(stdout.split('\0').slice(0, -1));
  const body = parts.length > 0 ? await toForm(parts) : data;
  return exchange(url, method ?? (body === undefined ? 'GET' : 'POST'), { headers, ...(body ? { body } : {}) });
}

interface CurlCall {
  method?: string;
  url: string;
  headers: Record<string, string>;
  data?: string;
  parts: string[];
}

function readCurl(args: string[]): CurlCall {
  const call: CurlCall = { url: '', headers: {}, parts: [] };
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) {
      call.url = arg;
      continue;
    }
    index += 1;
    const value = args[index] ?? '';
    if (arg === '-X') call.method = value;
    else if (arg === '-d') call.data = value;
    else if (arg === '-F') call.parts.push(value);
    else if (arg === '-H') call.headers[value.split(':')[0] ?? ''] = value.slice(value.indexOf(':') + 1).trim();
    else throw new Error(`the guide uses an option of curl that this test does not know: ${arg}`);
  }
  return call;
}

const mediaTypes: Record<string, string> = { '.jpg': 'image/jpeg', '.png': 'image/png', '.mp4': 'video/mp4' };

async function toForm(parts: string[]): Promise<FormData> {
  const form = new FormData();
  for (const part of parts) {
    const [name = '', value = ''] = part.split('=');
    if (value.startsWith('@')) form.append(name, await fileOf(value.slice(1)), value.slice(1));
    else form.append(name, value);
  }
  return form;
}

/** The files of the guide are the examples of this repository; one is cut off, so that its image fails. */
async function fileOf(name: string): Promise<Blob> {
  const bytes = name === 'cut-off.png' ? (await example('street.png')).subarray(0, 2000) : await example(name);
  return new Blob([new Uint8Array(bytes)], { type: mediaTypes[extname(name)] ?? '' });
}

/** Where a value has another shape than the example: a missing field, another type, no element of a kind. */
export function misfits(shown: unknown, actual: unknown, at = 'body'): string[] {
  if (typeOf(shown) !== typeOf(actual)) return [`${at} is ${typeOf(actual)}, and the guide shows ${typeOf(shown)}`];
  if (Array.isArray(shown)) {
    return shown.flatMap((element, index) =>
      (actual as unknown[]).some((one) => misfits(element, one).length === 0)
        ? []
        : [`${at} has no element like ${index} of the guide`],
    );
  }
  if (typeof shown !== 'object' || shown === null) return [];
  const fields = actual as Record<string, unknown>;
  return Object.entries(shown).flatMap(([name, value]) => misfits(value, fields[name], `${at}.${name}`));
}

const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value);
