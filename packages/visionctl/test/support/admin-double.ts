import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { readSettings } from '../../src/config.ts';
import { runCommandLine } from '../../src/run-command-line.ts';

interface Asked {
  line: string;
  body: unknown;
}

/** What stands for the admin API, and command lines that ask it. */
export interface AdminDouble {
  /** Answers are given in turn; the last one stays. */
  answers: unknown[];
  asked: Asked[];
  visionctl: (...args: string[]) => Promise<{ code: number; out: string; err: string }>;
  close: () => void;
}

export async function startAdminDouble(): Promise<AdminDouble> {
  const asked: Asked[] = [];
  const answers: unknown[] = [];
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    req.on('end', () => {
      asked.push({ line: `${req.method ?? ''} ${req.url ?? ''}`, body: text === '' ? undefined : JSON.parse(text) });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = readSettings({ ADMIN_URL: url, ADMIN_TOKEN: 'secret', VISION_LOCAL_DIR: tmpdir() });
  return {
    answers,
    asked,
    visionctl: async (...args) => {
      const said = { out: '', err: '' };
      const code = await runCommandLine(args, settings, {
        print: (text) => {
          said.out += `${text}\n`;
        },
        complain: (text) => {
          said.err += `${text}\n`;
        },
      });
      return { code, ...said };
    },
    close: () => server.close(),
  };
}
