import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KEPT_MS } from '@vision/shared/testing/kept-connections';

export type DetectAnswer = { status: number; body: unknown; headers?: Record<string, string> } | 'drop' | 'hang';

export interface FakeInference {
  url: string;
  /** The answer for the text inside an image; the default detects one object. */
  answer: (picture: string, url: URL) => DetectAnswer | Promise<DetectAnswer>;
  /** Texts of the received images. */
  readonly seen: string[];
  /** Maximum of concurrent requests. */
  mostAtOnce: number;
  close: () => Promise<void>;
}

export const oneObject = {
  label: 'fire',
  score: 0.9,
  bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.2, height: 0.4 },
};

export const detected = (objects: unknown[] = [oneObject]): DetectAnswer => ({
  status: 200,
  body: { image: { width: 640, height: 480 }, objects },
});

/** A backend over a real socket; a test can choose each answer. */
export async function startFakeInference(): Promise<FakeInference> {
  let open = 0;
  const server = createServer({ keepAliveTimeout: KEPT_MS }, (req, res) => {
    open += 1;
    fake.mostAtOnce = Math.max(fake.mostAtOnce, open);
    res.once('close', () => {
      open -= 1;
    });
    answer(fake, req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeInference = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: () => detected(),
    seen: [],
    mostAtOnce: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function answer(fake: FakeInference, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const picture = Buffer.concat(chunks).subarray(16, 48).toString('latin1').replace(/\0.*$/s, '');
  fake.seen.push(picture);
  const reply = await fake.answer(picture, new URL(req.url ?? '/', fake.url));
  if (reply === 'hang') return;
  if (reply === 'drop') res.destroy();
  else
    res
      .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      .end(JSON.stringify(reply.body));
}
