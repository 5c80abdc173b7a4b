import type { Readable } from 'node:stream';
import { drop, httpGet } from '@vision/streams/http-get';
import type { GetOptions } from '@vision/streams/http-get';
import { SourceError } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';
import type { StreamUrl } from '@vision/streams/stream-url';
import { reasonOfStatus } from './status-reason.ts';
import { withinBudget } from './within-budget.ts';

export interface HttpAnswer {
  /** Comes no faster than the budget allows. */
  body: Readable;
  contentType: string;
  contentLength: number | undefined;
}

/**
 * GET over a connection that the service makes. Redirects are refused: a server may not choose where its readers go.
 * @throws SourceError with a reason of the answer or of the connection
 */
export async function getOnce(url: StreamUrl, options: GetOptions): Promise<HttpAnswer> {
  const answer = await httpGet(url, options).catch((error: unknown) => {
    throw error instanceof SourceError ? error : new SourceError(reasonOfConnection(error));
  });
  const reason = reasonOfStatus(answer.statusCode ?? 0);
  if (reason !== undefined) {
    drop(answer);
    throw new SourceError(reason);
  }
  const length = answer.headers['content-length'];
  return {
    body: withinBudget(answer, options.budget),
    contentType: answer.headers['content-type'] ?? '',
    contentLength: length === undefined ? undefined : Number(length),
  };
}

function reasonOfConnection(error: unknown): SourceReason {
  const { code = '' } = error as { code?: string };
  return /CERT|SELF_SIGNED|TLS|UNABLE_TO_VERIFY|ERR_SSL/.test(code) ? 'tls_invalid' : 'connection_failed';
}
