import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { freePort } from '@vision/shared/testing/ports';
import { until } from '@vision/shared/testing/until';
import { findProgram } from '../local/host-programs.ts';
import { root } from '../local/settings.ts';

export const exampleFile = join(root, 'docs/examples/alertmanager.yaml');

export type Labels = Record<string, string>;

/** What Alertmanager sends to a webhook. */
export interface Notice {
  receiver: string;
  status: 'firing' | 'resolved';
  alerts: { status: string; labels: Labels }[];
}

export interface Alertmanager {
  /** All that receivers were sent, in order. */
  notices: Notice[];
  /** Sends alerts as Prometheus does; with `endsAt` they are over. */
  post(alerts: { labels: Labels; endsAt?: string }[]): Promise<void>;
  /** Alerts that it has, and whether another one silences them. */
  known(): Promise<{ labels: Labels; status: { state: string } }[]>;
  stop(): Promise<void>;
}

/** A real Alertmanager with the example, whose receivers are one of ours and whose minutes are seconds. */
export async function startAlertmanager(): Promise<Alertmanager> {
  const folder = mkdtempSync(join(tmpdir(), 'vision-alertmanager-'));
  const notices: Notice[] = [];
  const receiver = createServer((request, response) => {
    void json(request).then((notice) => {
      notices.push(notice as Notice);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const file = join(folder, 'alertmanager.yaml');
  writeFileSync(file, hastened(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}`));
  const address = `127.0.0.1:${await freePort()}`;
  const program = spawn(
    findProgram('alertmanager') ?? 'alertmanager',
    [
      `--config.file=${file}`,
      `--storage.path=${folder}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    { stdio: 'ignore' },
  );
  const ended = once(program, 'exit');
  await until(async () => (await fetch(`http://${address}/-/ready`)).ok);
  return {
    notices,
    async post(alerts) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`http://${address}/api/v2/alerts`, {
        method: 'POST',
        headers,
        body: JSON.stringify(alerts),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async known() {
      const answer = await fetch(`http://${address}/api/v2/alerts`);
      return (await answer.json()) as { labels: Labels; status: { state: string } }[];
    },
    async stop() {
      program.kill();
      await ended;
      receiver.closeAllConnections();
      await new Promise((resolve) => receiver.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const hastened = (receiver: string) =>
  readFileSync(exampleFile, 'utf8')
    .replaceAll('http://127.0.0.1:9', receiver)
    .replaceAll(/(group_wait|group_interval): \d+[ms]/g, '$1: 1s');

/** The receivers to which the example sends an alert, by amtool. */
export function receiversOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const args = ['config', 'routes', 'test', `--config.file=${exampleFile}`, ...pairs];
  const { status, stdout, stderr } = spawnSync(findProgram('amtool') ?? 'amtool', args, { encoding: 'utf8' });
  return (status === 0 ? stdout : stderr).trim();
}
