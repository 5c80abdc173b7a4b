import { stopProgram } from '../../deploy/local/background.ts';
import { portsOf } from '../../deploy/local/service-environment.ts';
import type { Launch, ServiceName } from '../../deploy/local/service-environment.ts';
import { ensureService } from '../../deploy/local/services.ts';
import { urlOf } from '../../deploy/local/settings.ts';
import type { Settings } from '../../deploy/local/settings.ts';
import type { Version } from './stages.ts';

/** The process of one version of a service. */
export interface Member {
  name: string;
  service: ServiceName;
  version: Version;
  /** By which its ports are counted. */
  ports: Settings;
  /** Starts it unless it runs; resolves when it is ready. */
  start: () => Promise<void>;
  /** As a rollout ends it: requests under way are finished. */
  stop: () => Promise<void>;
  /** How many requests of its API it has answered since it was started. */
  answered: () => Promise<number>;
}

const STOP_MS = 60_000;

export interface MemberOptions {
  service: ServiceName;
  version: Version;
  launch: Launch;
}

export function createMember({ service, version, launch }: MemberOptions): Member {
  const name = `${service}-${version}`;
  const ports = portsOf(launch);
  return {
    name,
    service,
    version,
    ports,
    // On a busy machine several processes that start at once may take longer than one wait.
    start: () => ensureService(launch, service).catch(() => ensureService(launch, service)),
    stop: () => stopProgram(launch.settings, name, 'SIGTERM', STOP_MS),
    answered: async () => {
      const reply = await fetch(`${urlOf(ports, `${service}Health`)}/metrics`, { signal: AbortSignal.timeout(5_000) });
      return answeredRequests(await reply.text());
    },
  };
}

/** Health checks and scrapes have no route. A route has braces of its own. */
export function answeredRequests(metrics: string): number {
  const series = metrics.matchAll(/^http_server_request_duration(?:_seconds)?_count\{.*http_route="\/.*\} (\d+)$/gm);
  return [...series].reduce((sum, [, count]) => sum + Number(count), 0);
}
