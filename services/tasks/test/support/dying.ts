import { freePort } from '@vision/shared/testing/ports';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import type { World } from './system.ts';

/** A process of the service that kills itself at a crash point; its port, once it is ready. */
export async function startDying(
  world: World,
  crashAt: string,
  changes: Record<string, string> = {},
): Promise<{ process: RunningProcess; port: number | undefined }> {
  const [port, healthPort] = [await freePort(), await freePort()];
  // Without Kafka: a killed member would delay the consumer group of the next replica; its events wait in the outbox.
  const alone = { KAFKA_BROKERS: '127.0.0.1:1' };
  // Its leases expire soon after its death.
  const dying = { LEASE_MS: '1200', CRASH_AT: crashAt, ...changes };
  const env = { ...world.env, ...alone, ...dying, PORT: String(port), HEALTH_PORT: String(healthPort) };
  const process = startProcess('tasks', env);
  const isUp = await untilReady(process, healthPort).then(
    () => true,
    () => false,
  );
  return { process, port: isUp ? port : undefined };
}
