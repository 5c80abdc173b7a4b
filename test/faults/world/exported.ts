import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the processes of a world send to a collector. It is searched as it comes and not kept. */
export interface Exported {
  /** Settings that send spans, metrics and lines here. */
  env: NodeJS.ProcessEnv;
  /** Looks for this text from now on; `what` names it in a finding. */
  forbid: (text: string, what: string) => void;
  /** What was seen that must not be exported: signal and name of the text. */
  found: () => string[];
  /** Bodies that came, by signal: a search through nothing has shown nothing. */
  received: () => Record<string, number>;
  close: () => Promise<void>;
}

/** Texts that are forbidden one by one as they arise (cursors): the last of them are enough. */
const MOST_TEXTS = 500;

export async function receiveExported(): Promise<Exported> {
  const forbidden = new Map<string, string>();
  const found = new Set<string>();
  const received: Record<string, number> = { traces: 0, metrics: 0, logs: 0 };
  const search = (signal: string, body: Buffer) => {
    received[signal] = (received[signal] ?? 0) + 1;
    for (const [text, what] of forbidden) if (body.includes(text)) found.add(`${signal}: ${what}`);
  };
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      search(req.url?.split('/').at(-1) ?? '', Buffer.concat(chunks));
      res.setHeader('Content-Type', req.headers['content-type'] ?? '').end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
      OTEL_METRIC_EXPORT_INTERVAL: '10000',
    },
    forbid: (text, what) => {
      if (text.length < 8) return;
      forbidden.set(text, what);
      const oldest = forbidden.size > MOST_TEXTS ? [...forbidden].find(([, one]) => one === what)?.[0] : undefined;
      if (oldest !== undefined) forbidden.delete(oldest);
    },
    found: () => [...found],
    received: () => ({ ...received }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
