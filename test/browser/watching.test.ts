import { expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { Caller } from '../support/system.ts';
import { startCamera } from './support/camera.ts';
import { inspect, openBrowser } from './support/visitor.ts';

const { visit } = openBrowser();

const MINUTE_MS = 60_000;

test('a viewer loses nothing by a minute without connection, nor when the task ends meanwhile', async () => {
  const camera = await startCamera();
  const caller = await Caller.create({ video_tasks_per_day: 1 });
  const { body } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
  const taskId = String(body['task_id']);
  const visitor = await visit();
  const { page, signIn, go } = visitor;
  await signIn(caller.key);
  await page.clock.install();
  await go(`#/tasks/${taskId}`);
  await page.locator('.track').first().waitFor();
  const stored = page.locator('.facts div', { hasText: 'Frames stored' }).locator('dd');
  const before = Number(await stored.innerText());

  const banner = page.getByText('Connection lost. The console keeps trying.');
  await page.context().setOffline(true);
  await banner.waitFor();
  await page.clock.fastForward(MINUTE_MS);
  expect(await page.locator('.track').count()).toBeGreaterThan(0);
  expect(await banner.isVisible()).toBe(true);
  // Said once: what the page shows stays where it is.
  expect(await page.getByText('No connection to the service').count()).toBe(0);
  await inspect(visitor, 'task-offline');
  await page.context().setOffline(false);
  await banner.waitFor({ state: 'hidden' });
  await until(async () => Number(await stored.innerText()) > before);

  await caller.stop(taskId);
  await page.locator('.status', { hasText: 'Stopped' }).waitFor();
  await page.getByText('The task has ended. Its tracks and its timeline stay readable.').waitFor();
  await page.getByText(/^Ended at /).waitFor();
  expect(await page.locator('.track').count()).toBeGreaterThan(0);
  expect(await page.getByRole('button', { name: 'Stop the task' }).count()).toBe(0);
  await visitor.close();
});
