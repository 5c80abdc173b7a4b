import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Answer, Caller } from '../support/system.ts';
import type { Target } from './attack.ts';

/** The beginning of a video stream that never goes on: it can be watched, and shows nothing. */
const BEGINNING = Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), Buffer.alloc(1000)]);

/** A create for a stream that is there. */
export async function liveStream({ atEnd }: Target): Promise<{ scene_code: string; stream_url: string }> {
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'video/x-flv' }).write(BEGINNING);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { scene_code: 'person_vehicle', stream_url: `http://127.0.0.1:${port}/live` };
}

/** Stops the tasks that these creates made. */
export async function stopAll(caller: Caller, creates: readonly Answer[]): Promise<void> {
  const ids = creates.flatMap(({ body }) => (typeof body['task_id'] === 'string' ? [body['task_id']] : []));
  await Promise.all([...new Set(ids)].map((id) => caller.stop(id)));
}
