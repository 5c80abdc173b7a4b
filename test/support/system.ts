import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publicReasons } from '@vision/contracts/reasons';
import type { Exchange } from '@vision/shared/testing/api-contract-document';
import { documentedBy } from './documented.ts';

/** The running system under test, as `make` describes it in the environment. */
export const system = {
  baseUrl: need('BASE_URL'),
  adminUrl: need('ADMIN_URL'),
  adminToken: need('ADMIN_TOKEN'),
};

const faultsOf = { public: await documentedBy('public'), admin: await documentedBy('admin') };

export const examples = join(import.meta.dirname, '../../examples');
export const example = (name: string) => readFile(join(examples, name));

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
  text: string;
}

export interface ProblemBody {
  code?: string;
  status: number;
  detail: string;
  instance: string;
  trace_id: string;
  retryable: boolean;
  details: { reason: string; field?: string };
}

/** A caller with a key of its own, so that quota and limits of tests do not touch each other. */
export class Caller {
  readonly key: string;
  readonly subject: string;

  constructor(key: string, subject: string) {
    this.key = key;
    this.subject = subject;
  }

  static async create(limits: Record<string, number> = {}): Promise<Caller> {
    const made = await admin('POST', '/admin/v1/keys', { name: 'e2e' });
    const caller = new Caller(String(made.body['key']), String(made.body['subject']));
    if (Object.keys(limits).length > 0) await caller.setLimits(limits);
    return caller;
  }

  /** Another key of the same subject. */
  async anotherKey(): Promise<Caller> {
    const made = await admin('POST', '/admin/v1/keys', { name: 'e2e', subject: this.subject });
    return new Caller(String(made.body['key']), this.subject);
  }

  async setLimits(limits: Record<string, number>): Promise<void> {
    const answer = await admin('PUT', `/admin/v1/subjects/${this.subject}/limits`, limits);
    if (answer.status !== 200) throw new Error(`limits not set: ${answer.status} ${answer.text}`);
  }

  send(
    method: string,
    path: string,
    init: { body?: NonNullable<RequestInit['body']>; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Answer> {
    return exchange(system.baseUrl + path, method, {
      ...init,
      headers: { authorization: `Bearer ${this.key}`, ...init.headers },
    });
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  createStream(
    body: unknown,
    idempotencyKey: string = randomUUID(),
    signal?: AbortSignal,
    query = '',
  ): Promise<Answer> {
    return this.send('POST', `/v1/vision/tasks${query}`, {
      ...(signal ? { signal } : {}),
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    });
  }

  createUpload(
    form: FormData,
    idempotencyKey: string = randomUUID(),
    signal?: AbortSignal,
    query = '',
  ): Promise<Answer> {
    return this.send('POST', `/v1/vision/video-tasks${query}`, {
      ...(signal ? { signal } : {}),
      body: form,
      headers: { 'idempotency-key': idempotencyKey },
    });
  }

  detect(form: FormData, idempotencyKey: string = randomUUID(), signal?: AbortSignal, query = ''): Promise<Answer> {
    return this.send('POST', `/v1/vision/image-detections${query}`, {
      ...(signal ? { signal } : {}),
      body: form,
      headers: { 'idempotency-key': idempotencyKey },
    });
  }

  stop(taskId: string): Promise<Answer> {
    return this.send('POST', `/v1/vision/tasks/${taskId}/stop`);
  }

  /** Units of all days: what a test does may begin before the end of one and end behind it. */
  async used(kind: 'video' | 'image'): Promise<number> {
    const { body } = await this.get('/v1/vision/usage/days');
    return (body['items'] as Record<typeof kind, number>[]).reduce((sum, day) => sum + day[kind], 0);
  }
}

export function admin(method: string, path: string, body?: unknown): Promise<Answer> {
  return exchange(system.adminUrl + path, method, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${system.adminToken}`, 'content-type': 'application/json' },
  });
}

export interface Part {
  name: string;
  value: string | Uint8Array<ArrayBuffer>;
  type?: string;
  filename?: string;
}

/** A multipart form; parts with a type or file name are files. */
export function form(...parts: Part[]): FormData {
  const data = new FormData();
  for (const { name, value, type, filename } of parts) {
    if (type === undefined && filename === undefined) data.append(name, String(value));
    else data.append(name, new Blob([value], { type: type ?? '' }), filename ?? 'file');
  }
  return data;
}

export const jpeg = (bytes: Uint8Array): Part => ({
  name: 'files',
  value: new Uint8Array(bytes),
  type: 'image/jpeg',
  filename: 'a.jpg',
});
export const scene = (code: string): Part => ({ name: 'scene_code', value: code });

export const problemOf = (answer: Pick<Answer, 'body'>) => answer.body as unknown as ProblemBody;

/** Status, code and reason in one value, for comparisons that read like the contract. */
export function refusal(answer: Pick<Answer, 'status' | 'body'>): [number, string | undefined, string | undefined] {
  const problem = problemOf(answer) as Partial<ProblemBody>;
  return [answer.status, problem.code, problem.details?.reason];
}

/** Sends one request; the answer has to be one that the API document describes. */
export async function exchange(
  url: string,
  method: string,
  init: Omit<RequestInit, 'headers' | 'method'> & { headers?: Record<string, string> } = {},
): Promise<Answer> {
  const reply = await fetch(url, { method, ...init });
  const text = await reply.text();
  assertDocumented(url, {
    method,
    requestHeaders: init.headers,
    requestText: typeof init.body === 'string' ? init.body : undefined,
    status: reply.status,
    headers: reply.headers,
    text,
  });
  const isJson = (reply.headers.get('content-type') ?? '').includes('json');
  return {
    status: reply.status,
    headers: reply.headers,
    text,
    body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

/** @throws when an answer is not as the document of the public or the admin API says. */
export function assertDocumented(url: string, exchanged: Omit<Exchange, 'path'>): void {
  const { origin, pathname, search } = new URL(url);
  const isAdmin = origin === new URL(system.adminUrl).origin;
  const faults = faultsOf[isAdmin ? 'admin' : 'public']({ ...exchanged, path: pathname + search });
  if (faults.length > 0) throw new Error(`not as the API document says:\n${faults.join('\n')}\n${exchanged.text}`);
  if (!isAdmin && exchanged.status >= 400) assertListed(exchanged.text);
}

const listedReasons = new Set(Object.values(publicReasons).flatMap((reasons) => Object.keys(reasons)));

/** @throws when a refusal of the public API gives a reason that the guide does not list. */
function assertListed(text: string): void {
  if (text === '') return;
  const { details } = JSON.parse(text) as ProblemBody;
  if (!listedReasons.has(details.reason)) throw new Error(`the guide does not list the reason ${details.reason}`);
}

/** A variable that describes the running system. */
export function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run these tests with "make e2e"`);
  return value;
}
