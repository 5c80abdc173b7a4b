import { connect } from 'node:net';
import type { Finding } from './diagnosis.ts';
import { withAdvice } from './diagnosis.ts';

/** A setting that names an address, and what stands there. */
export interface Place {
  setting: string;
  kind: string;
  host: string;
  port: number;
}

const KINDS: Record<string, string> = {
  ADMIN_URL: 'admin',
  DATABASE_URL: 'database',
  REDIS_URL: 'redis',
  S3_ENDPOINT: 'object_store',
  INFERENCE_URL: 'inference',
  TASKS_URL: 'process',
  IMAGES_URL: 'process',
  RESULTS_URL: 'process',
  QUOTA_URL: 'process',
};
const PORTS: Record<string, number> = {
  'http:': 80,
  'https:': 443,
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
};

/** The addresses that the settings name; what is no address is left out. */
export function placesOf(values: Record<string, string>): Place[] {
  const urls = Object.entries(KINDS).flatMap(([setting, kind]) => {
    const text = values[setting];
    if (text === undefined || !URL.canParse(text)) return [];
    // The primary is where the Sentinels say, not at this address.
    if (setting === 'REDIS_URL' && values['REDIS_SENTINELS']) return [];
    const { hostname, port, protocol } = new URL(text);
    const host = hostname.replace(/^\[|\]$/g, '');
    return host === '' ? [] : [{ setting, kind, host, port: Number(port) || (PORTS[protocol] ?? 80) }];
  });
  return [...urls, ...listed(values, 'KAFKA_BROKERS', 'kafka'), ...listed(values, 'REDIS_SENTINELS', 'redis')];
}

function listed(values: Record<string, string>, setting: string, kind: string): Place[] {
  return (values[setting] ?? '').split(',').flatMap((address) => {
    const [, host, port] = /^\s*\[?([^\]]+?)\]?:(\d+)\s*$/.exec(address) ?? [];
    return host === undefined ? [] : [{ setting, kind, host, port: Number(port) }];
  });
}

const PATIENCE_MS = 3_000;

/** Whether something listens there, seen from here. No password is sent. */
export async function reach({ setting, kind, host, port }: Place): Promise<Finding> {
  const began = performance.now();
  const fault = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host, port, timeout: PATIENCE_MS });
    const end = (reason: string | undefined) => {
      socket.destroy();
      resolve(reason);
    };
    socket.on('connect', () => end(undefined));
    socket.on('timeout', () => end(`no connection within ${PATIENCE_MS} ms`));
    socket.on('error', (error) => end((error as NodeJS.ErrnoException).code ?? error.message));
  });
  const finding = { from: 'here', what: `${setting} ${host}:${port}`, ms: Math.round(performance.now() - began) };
  return withAdvice(finding, kind, fault);
}
