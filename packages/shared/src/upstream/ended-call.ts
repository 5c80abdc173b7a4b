import type { ErrorType, QuietEnd } from './error-type.ts';

/** A limit of a call was reached. The word tells what was waited for. */
export class UpstreamTimeoutError extends Error {
  override readonly name = 'UpstreamTimeoutError';
  readonly errorType: ErrorType;
  /** The limit in milliseconds. */
  readonly limitMs: number;

  constructor(errorType: ErrorType, limitMs: number, options?: ErrorOptions) {
    super(`no answer within ${limitMs} ms (${errorType})`, options);
    this.errorType = errorType;
    this.limitMs = limitMs;
  }
}

/** The other side gave an answer that is none, said by a word of the list. */
export class UpstreamAnswerError extends Error {
  override readonly name = 'UpstreamAnswerError';
  readonly errorType: ErrorType;

  constructor(errorType: ErrorType, message: string, options?: ErrorOptions) {
    super(message, options);
    this.errorType = errorType;
  }
}

/** The caller closed the connection before the answer was sent. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
  readonly errorType: QuietEnd = 'client_left';
}

/** How a call ended that its signal ended: by a client that left, by a limit, or by a cancel of our own. */
export function endOf({ reason }: AbortSignal): ErrorType | QuietEnd {
  if (reason instanceof ClientGoneError || reason instanceof UpstreamTimeoutError) return reason.errorType;
  return 'canceled';
}
