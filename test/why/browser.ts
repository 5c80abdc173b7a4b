import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { findProgram, installMissing } from '../../deploy/local/host-programs.ts';

export interface Photograph {
  url: string;
  /** The innermost element with this text is clicked before the picture is taken. */
  click: string;
  width: number;
  height: number;
}

type Send = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;

/** Takes a picture of a page with Chromium, by the DevTools protocol. @returns a PNG. */
export async function photograph({ url, click, width, height }: Photograph): Promise<Buffer> {
  installMissing(['chromium']);
  const profile = await mkdtemp(join(tmpdir(), 'vision-browser-'));
  const flags = ['--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
  const browser = spawn(findProgram('chromium') ?? 'chromium-headless-shell', [...flags, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that all of its processes are ended.
    detached: true,
  });
  const gone = once(browser, 'exit');
  let said = '';
  browser.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    const [, host = ''] = await until(() => /DevTools listening on ws:\/\/([^/]+)/.exec(said));
    const send = await openPage(host);
    await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await send('Page.navigate', { url });
    await until(() => evaluate(send, clicked(click)), { timeoutMs: 30_000, intervalMs: 250 });
    // What the click shows slides in.
    await delay(SLIDE_MS);
    const { data } = await send('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(String(data), 'base64');
  } finally {
    if (browser.pid !== undefined) process.kill(-browser.pid, 'SIGKILL');
    await gone;
    await rm(profile, { recursive: true, force: true });
  }
}

const SLIDE_MS = 1_500;

/** A script that clicks on the text, and says whether it was there. */
const clicked = (text: string) => `(() => {
  const all = [...document.querySelectorAll('body *')].filter((one) => one.textContent.trim() === ${JSON.stringify(text)});
  all.at(-1)?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  return all.length > 0;
})()`;

async function evaluate(send: Send, expression: string): Promise<boolean> {
  const { result } = await send('Runtime.evaluate', { expression, returnByValue: true });
  return (result as { value?: unknown } | undefined)?.value === true;
}

async function openPage(host: string): Promise<Send> {
  const opened = await fetch(`http://${host}/json/new?about:blank`, { method: 'PUT' });
  const { webSocketDebuggerUrl } = (await opened.json()) as { webSocketDebuggerUrl: string };
  const socket = new WebSocket(webSocketDebuggerUrl);
  await once(socket, 'open');
  const waiting = new Map<number, (result: Record<string, unknown>) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result = {} } = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  return (method, params = {}) => {
    const id = waiting.size + 1;
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    return promise;
  };
}
