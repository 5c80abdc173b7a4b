import { VisionError } from '@vision/client';
import { t } from '../strings.ts';

/** What went wrong, in words for the viewer. */
export interface Trouble {
  title: string;
  text: string;
  /** To copy into a request for support. */
  traceId?: string;
  reason: string;
  /** The scope that the key lacks. */
  scope?: string | undefined;
}

/** Explains an error; undefined for a call that the page ended itself. */
export function troubleOf(error: unknown): Trouble | undefined {
  if (error instanceof VisionError) return refusal(error);
  if (error instanceof DOMException && error.name === 'AbortError') return undefined;
  if (isConnectionFault(error)) return { title: t.trouble.offline, text: t.trouble.offlineText, reason: 'offline' };
  return { title: t.trouble.unexpected, text: t.trouble.unexpectedText, reason: 'unexpected' };
}

/** Whether the same call may succeed later: the connection was lost, or the service is busy or away. */
export const isPassing = (error: unknown): boolean =>
  error instanceof VisionError ? error.problem.retryable : isConnectionFault(error);

function refusal({ problem }: VisionError): Trouble {
  const { detail, details, trace_id: traceId, title } = problem;
  const { reason, scope } = details;
  if (reason === 'scope_missing') {
    return { title: t.trouble.scope, text: t.trouble.scopeText(scope ?? ''), reason, scope };
  }
  const known = t.trouble.titles[problem.code ?? ''] ?? t.trouble.statuses[String(problem.status)] ?? title;
  return { title: known, text: detail, traceId, reason };
}

const isConnectionFault = (error: unknown) =>
  error instanceof Error && ['TypeError', 'TimeoutError', 'NetworkError'].includes(error.name);
