import createClient from 'openapi-fetch';
import { errorOf } from './problem.ts';
import type { Connection } from './connection.ts';
import type { paths } from './public-api.ts';

/** Every operation, with the types of the OpenAPI document; refusals are returned as `error`. */
export const createApi = ({ baseUrl, authorization, fetch }: Connection) =>
  createClient<paths>({ baseUrl, fetch, headers: { authorization } });

export type Api = ReturnType<typeof createApi>;

/** The body of an answer. @throws VisionError when it is a refusal. */
export function dataOf<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw errorOf(response, error);
  return data;
}

export const optional = (signal: AbortSignal | undefined) => (signal ? { signal } : {});
