import { isNativeError } from 'node:util/types';

/** Reason why a store cannot be used: one sentence that names the setting to check and never shows a secret. */
export interface Fault {
  /** `wrong`: an operator has to fix it; `away`: it does not respond, as in an outage; `risk`: usable, but unsafe. */
  kind: 'wrong' | 'away' | 'risk';
  sentence: string;
}

export const wrong = (sentence: string): Fault => ({ kind: 'wrong', sentence });
export const away = (sentence: string): Fault => ({ kind: 'away', sentence });

/** Thrown when work cannot continue; its message is the sentence of the fault. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  readonly fault: Fault;

  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.sentence, options);
    this.fault = fault;
  }
}

/** The codes of an error and of its causes, outermost first. */
export function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; isNativeError(at) && depth < 6; at = causeOf(at), depth += 1) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string') codes.push(code);
  }
  return codes;
}

/** The message at the root of an error. */
export function rootMessage(error: unknown): string {
  let message = String(error);
  for (let at = error, depth = 0; isNativeError(at) && depth < 6; at = causeOf(at), depth += 1)
    if (at.message !== '') message = at.message;
  return message;
}

/** An AggregateError holds one error per address that was tried; the first one represents all. */
function causeOf(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : error.cause;
}

const UNTRUSTED = /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|ERR_TLS_CERT_ALTNAME_FORMAT|INVALID_CA|HOSTNAME_MISMATCH)/;

/**
 * The fault in a TLS connection.
 * @param names the store, and its settings: of its address, of the switch for TLS, of the file of authorities
 * @returns undefined when the error does not concern TLS.
 */
export function tlsFault(
  error: unknown,
  names: { store: string; address: string; tls: string; ca: string; cert?: string },
): Fault | undefined {
  const codes = codesOf(error);
  const { store, address, tls, ca, cert } = names;
  const reason = rootMessage(error).split(';')[0] ?? '';
  if (codes.includes('ERR_TLS_CERT_ALTNAME_INVALID'))
    return wrong(`The certificate of ${store} is not for the name in ${address}: ${reason}`);
  if (codes.some((code) => UNTRUSTED.test(code)))
    return wrong(`The certificate of ${store} is not trusted (${reason}): ${ca} has to hold its authority`);
  if (codes.some((code) => /^ERR_SSL_.*(ALERT|CERTIFICATE)/.test(code)))
    return wrong(`${capital(store)} refuses our certificate (${reason}): ${cert ?? tls} is wrong or missing`);
  if (codes.some((code) => code.startsWith('ERR_SSL_') || code === 'EPROTO'))
    return wrong(`${capital(store)} does not speak TLS at ${address} (${reason}): look at ${tls}`);
  return undefined;
}

/** The first letter as at the beginning of a sentence. */
export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
