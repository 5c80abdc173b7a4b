import type { components } from './public-api.ts';

export type Problem = components['schemas']['Problem'];

/** A refusal of the service, with its problem document: `problem.details.reason` is the exact reason. */
export class VisionError extends Error {
  override readonly name = 'VisionError';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.status} ${problem.details.reason}: ${problem.detail}`);
    this.problem = problem;
  }
}

/** The error of an answer that is no success. `body` is its parsed body, or its text. */
export function errorOf(response: Response, body: unknown): VisionError {
  return new VisionError(isProblem(body) ? body : foreignProblem(response));
}

/** Reads the body of an answer that is no success. */
export async function readError(response: Response): Promise<VisionError> {
  return errorOf(response, await problemOf(response));
}

/** The problem document of an answer, whose body stays readable; undefined when it has none. */
export async function problemOf(response: Response): Promise<Problem | undefined> {
  try {
    const body: unknown = await response.clone().json();
    return isProblem(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isProblem = (body: unknown): body is Problem =>
  isObject(body) &&
  isObject(body['details']) &&
  typeof body['details']['reason'] === 'string' &&
  typeof body['retryable'] === 'boolean';

/** An answer of something before the service, such as a proxy. */
const foreignProblem = ({ status, statusText, headers }: Response): Problem => ({
  type: 'about:blank',
  title: statusText,
  status,
  detail: 'The answer has no problem document; it does not come from the service.',
  instance: `urn:request:${headers.get('x-request-id') ?? ''}`,
  details: { reason: 'not_from_service' },
  trace_id: headers.get('x-trace-id') ?? '',
  retryable: [429, 502, 503, 504].includes(status),
});
