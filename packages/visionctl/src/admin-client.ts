import { problem } from '@vision/contracts/problem';
import { bodyAs, call, CallError } from '@vision/shared/http/call';
import type { CallReply } from '@vision/shared/http/call';
import type { z } from 'zod';
import type { Settings } from './config.ts';

/** The admin API refused; the message is that of its response. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** The requested part is unavailable; the rest of the admin API may respond. */
export class AwayError extends RefusedError {}

/** The admin API gave no answer. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

interface AdminCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  json?: unknown;
}

export interface AdminClient {
  /** Calls the admin API and parses the answer. */
  call: <T>(schema: z.ZodType<T>, request: AdminCall) => Promise<T>;
}

const TIMEOUT_MS = 70_000;

export function createAdminClient(settings: Settings): AdminClient {
  return {
    call: async (schema, request) => {
      const reply = await send(settings, request);
      if (reply.status === 503) throw new AwayError(explain(reply));
      if (reply.status >= 400) throw new RefusedError(explain(reply));
      const parsed = schema.safeParse(reply.body);
      if (parsed.success) return parsed.data;
      throw new RefusedError(`${settings.adminUrl()} does not answer like an admin API: ${parsed.error.message}`);
    },
  };
}

async function send(settings: Settings, { method, path, json }: AdminCall): Promise<CallReply> {
  const url = settings.adminUrl() + path;
  const headers = { authorization: `Bearer ${settings.adminToken()}`, 'x-operator': settings.operator };
  try {
    return await call({ upstream: 'gateway', operation: 'admin', method, url, json, headers, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw new UnreachableError(`${settings.adminUrl()} gave no answer (${error.reason}).`, { cause: error });
  }
}

function explain(reply: CallReply): string {
  const refusal = bodyAs(problem, reply);
  if (!refusal) return `The answer was ${reply.status}.`;
  if (reply.status === 401) return 'ADMIN_TOKEN is not the token of this gateway (401).';
  const facts = `${reply.status}, ${String(refusal.details['reason'])}, trace ${refusal.trace_id}`;
  // The text of such a response is for callers of the public API and does not name the unavailable part.
  if (reply.status === 503) return `It could not be done now (${facts}). "visionctl doctor" says what is away.`;
  return `${refusal.detail} (${facts})`;
}
