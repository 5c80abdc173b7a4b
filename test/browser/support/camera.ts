import { join } from 'node:path';
import { startLiveSource } from '../../../examples/live-source.ts';
import { examples } from '../../support/system.ts';

type Camera = Awaited<ReturnType<typeof startLiveSource>>;
const cameras = new Set<Camera>();

/** A camera that shows the example again and again. */
export async function startCamera(): Promise<Camera> {
  const camera = await startLiveSource({ video: join(examples, 'street.mp4') });
  cameras.add(camera);
  return camera;
}

/** Ends the cameras of a file, those of failed tests too: an open one would keep the run from ending. */
export function stopCameras(): void {
  for (const camera of cameras) {
    camera.disconnect();
    camera.close();
  }
  cameras.clear();
}
