import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../deploy/local/settings.ts';

export interface ModelServer {
  url: string;
  close: () => Promise<void>;
}

/** A model server as Triton is one, which says that its model is ready and never finishes an inference. */
export async function startLateModelServer(): Promise<ModelServer> {
  const server = createServer((req, res) => {
    req.resume();
    if (req.method === 'GET') res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Registry {
  detectors: Record<string, Record<string, unknown>>;
  scenes: { scene_code: string; detector?: string }[];
}

/** The scene whose pictures go to the model server. */
export const SERVED_SCENE = 'ship';

/** Writes the registry of scenes with one of them on the model server. @returns its file. */
export async function scenesServedBy(url: string, timeoutMs: number, folder: string): Promise<string> {
  const registry = JSON.parse(await readFile(join(root, 'config/scenes.json'), 'utf8')) as Registry;
  const { file: _file, version: _version, kind: _kind, ...model } = registry.detectors['nanodet-416'] ?? {};
  registry.detectors['served'] = { ...model, kind: 'kserve', url, model: 'nanodet', timeout_ms: timeoutMs };
  for (const scene of registry.scenes) if (scene.scene_code === SERVED_SCENE) scene.detector = 'served';
  const written = join(folder, 'scenes.json');
  await writeFile(written, JSON.stringify(registry));
  return written;
}
